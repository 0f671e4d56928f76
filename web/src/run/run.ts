import type { PlanNode, RunEvent } from "../api/events";
import type { Answer, ErrorRecord, Json, OutputColumn, StepKind } from "../api/types";
import type { State } from "../shared/Status";
import { kindProducing, type StepKinds } from "./stepKinds";
import { kindLabel, stepName } from "./stepNames";

/** The state of a run, folded from its events. Pure functions. */

export interface StepView {
  id: string;
  /** The name of its kind; null for a step that a stored answer does not record, which is known by its product. */
  kind: string | null;
  produces?: StepKind["produces"];
  /** The plan's own name for the step. */
  title: string | null;
  source: string | null;
  after: string[];
  state: State;
  attempt: number;
  note: string | null;
  done: number | null;
  total: number | null;
  ms: number | null;
  rows: number | null;
  code: string | null;
  /** A few of its rows as records. */
  sample: Record<string, unknown>[];
}

/** A step as it is shown, with the words that the descriptor of its kind gives. */
export interface ShownStep extends StepView {
  name: string;
  /** One or two words for what it is. */
  label: string;
  /** Undefined if the server does not know the kind, for example in a run that another version stored. */
  descriptor: StepKind | undefined;
}

export type Phase = "running" | "done" | "partial" | "failed" | "cancelled";

export interface RunView {
  id: string | null;
  phase: Phase;
  steps: StepView[];
  sentence: string | null;
  columns: OutputColumn[];
  rowCount: number | null;
  /** The rows that came with events, from row 0 on. If the answer holds all rows: the rows of the answer. */
  rows: Json[][];
  answer: Answer | null;
  error: (Pick<ErrorRecord, "message" | "hint" | "code"> & { kind?: string }) | null;
  began: number | null;
  /** From its first event to its last, as listings of runs say it too; null while it goes on. */
  ms: number | null;
  /** The last event received, and when it was sent. */
  lastEvent: { seq: number; at: number } | null;
  tokens: number;
  /** Tokens from pieces that are not stored yet; after a reconnect the server sends them again. */
  looseTokens: number;
}

export const NEW_RUN: RunView = {
  id: null,
  phase: "running",
  steps: [],
  sentence: null,
  columns: [],
  rowCount: null,
  rows: [],
  answer: null,
  error: null,
  began: null,
  ms: null,
  lastEvent: null,
  tokens: 0,
  looseTokens: 0,
};

export function fold(run: RunView, event: RunEvent): RunView {
  const known: RunView = {
    ...run,
    id: run.id ?? event.run,
    began: run.began ?? event.at,
    lastEvent: { seq: event.seq || (run.lastEvent?.seq ?? 0), at: event.at },
  };
  switch (event.type) {
    case "run.started":
      return withNodes(known, event.graph?.nodes ?? []);
    case "run.resumed":
    case "run.paused":
      return { ...known, steps: halted(known.steps, "idle") };
    case "plan.ready":
      return withNodes({ ...known, sentence: event.sentence ?? known.sentence }, event.plan?.nodes ?? []);
    case "step.started":
      return changed(known, event.node, { state: "running", attempt: event.attempt, note: null });
    case "step.progress":
      return changed(known, event.node, { note: event.message, done: event.done, total: event.total });
    case "step.output":
      return event.channel === "token"
        ? withText(known, event)
        : withOutput(known, event.node, event.channel, event.data);
    case "step.retried":
      return changed(known, event.node, {
        state: "retrying",
        note: `${event.message} Tries again in ${Math.ceil(event.delay)} s.`,
      });
    case "step.finished":
      return changed(known, event.node, { state: "ok", note: null, ms: event.duration_ms, ...outputOf(event.output) });
    case "step.failed":
      return changed(known, event.node, { state: "error", note: event.message, ms: event.duration_ms });
    case "step.skipped":
      return changed(known, event.node, { state: "skipped", note: event.reason });
    case "approval.requested":
      return changed(known, event.node, { state: "waiting", note: event.prompt });
    case "approval.decided":
      return changed(known, event.node, { state: event.approved ? "running" : "skipped", note: event.note });
    case "answer.metadata":
      // Rows that were told before a correction are not part of what follows.
      return { ...known, columns: event.columns, rowCount: event.row_count, rows: [] };
    case "answer.batch":
      return event.rows && event.offset === known.rows.length
        ? { ...known, rows: [...known.rows, ...event.rows] }
        : known;
    case "answer.final":
      return answered(known, event.answer);
    case "run.finished":
      return { ...known, phase: event.status === "partial" ? "partial" : "done", ms: passed(known, event) };
    case "run.failed":
      return { ...known, steps: halted(known.steps), phase: "failed", ms: passed(known, event), error: event };
    case "run.cancelled":
      return {
        ...known,
        steps: halted(known.steps),
        phase: "cancelled",
        ms: passed(known, event),
        error: { message: `Stopped: ${event.reason}.`, hint: null, code: "cancelled" },
      };
  }
}

function passed(run: RunView, { at }: RunEvent): number {
  return (at - (run.began ?? at)) * 1_000;
}

/** The run of a stored answer, when the page is opened again. */
export function recalled(answer: Answer, ms: number | null): RunView {
  const recorded = answer.steps.map(
    (step): StepView => ({
      ...blankStep({ id: step.id, kind: step.kind, config: { source: step.source } }),
      state: step.status === "done" ? "ok" : step.status === "failed" ? "error" : "skipped",
      ms: step.duration_ms,
      rows: step.row_count,
      code: step.code,
      sample: (step.sample ?? []) as StepView["sample"],
    }),
  );
  const unanswered = answer.status === "failed" || answer.status === "cancelled";
  // An answer records only the steps that gave rows. A step that understood the question came before them, and one that
  // wrote the answer after them.
  const unrecorded = (produces: StepKind["produces"], state: State = "ok"): StepView => ({
    ...blankStep({ id: produces, kind: "" }),
    kind: null,
    produces,
    state,
  });
  const steps = [
    ...(answer.provenance.mind === "direct" ? [] : [unrecorded("graph")]),
    ...recorded,
    ...(recorded.length ? [unrecorded("answer", unanswered ? "skipped" : "ok")] : []),
  ];
  const chain = steps.map((step, i) => ({ ...step, after: i ? [steps[i - 1]?.id ?? ""] : [] }));
  return answered({ ...NEW_RUN, id: answer.run_id, phase: "done", steps: chain, ms }, answer);
}

export function isOver(run: RunView): boolean {
  return run.phase !== "running";
}

/** Whether rows are being read: a source was asked, and there is no answer yet. */
export function isReading(run: RunView): boolean {
  return !isOver(run) && !run.answer && run.steps.some((step) => step.source !== null && step.state !== "idle");
}

/** The steps to show. Wrappers around other steps are left out, and their successors are linked to their predecessors. */
export function shownSteps(steps: readonly StepView[], kinds: StepKinds): ShownStep[] {
  const named = new Map(steps.map((step) => [step.id, withWords(step, kinds)]));
  const wrappers = new Map([...named].filter(([, step]) => step.descriptor?.is_wrapper));
  return [...named.values()]
    .filter((step) => !wrappers.has(step.id))
    .map((step) => {
      const parent = wrappers.get(step.id.split("/").slice(0, -1).join("/"));
      const after = step.after.length ? step.after : (parent?.after ?? []);
      return {
        ...step,
        note: step.state === "skipped" ? withNames(step.note, named) : step.note,
        after: after.flatMap((id) => wrappers.get(id)?.after ?? [id]),
      };
    });
}

function withWords(step: StepView, kinds: StepKinds): ShownStep {
  const descriptor = step.kind === null ? step.produces && kindProducing(step.produces, kinds) : kinds.get(step.kind);
  return {
    ...step,
    descriptor,
    name: stepName(step, descriptor),
    label: kindLabel(step.kind ?? descriptor?.name ?? "", descriptor),
  };
}

function withNodes(run: RunView, nodes: PlanNode[]): RunView {
  const fresh = nodes.filter((node) => !run.steps.some((step) => step.id === node.id));
  return fresh.length ? { ...run, steps: [...run.steps, ...fresh.map(blankStep)] } : run;
}

function blankStep(node: PlanNode): StepView {
  const source = typeof node.config?.source === "string" ? node.config.source : null;
  return {
    id: node.id,
    kind: node.kind,
    title: typeof node.config?.title === "string" ? node.config.title : null,
    source,
    after: node.after ?? [],
    state: "idle",
    attempt: 1,
    note: null,
    done: null,
    total: null,
    ms: null,
    rows: null,
    code: null,
    sample: [],
  };
}

function changed(run: RunView, id: string, changes: Partial<StepView>): RunView {
  const known = withNodes(run, [{ id, kind: "step" }]);
  return { ...known, steps: known.steps.map((step) => (step.id === id ? { ...step, ...changes } : step)) };
}

function withOutput(run: RunView, node: string, channel: string, data: Json): RunView {
  if (channel === "code" && typeof data === "string") return changed(run, node, { code: data });
  return run;
}

/**
 * While a model writes, its text arrives in pieces with the sequence number 0. The numbered event that stores the text
 * holds only the pieces that this stream has not sent yet, so every piece that arrives is counted.
 */
function withText(run: RunView, event: Extract<RunEvent, { type: "step.output" }>): RunView {
  const data = event.data as { pieces?: number } | null;
  const tokens = run.tokens + (data?.pieces ?? 1);
  return { ...run, tokens, looseTokens: event.seq === 0 ? run.looseTokens + 1 : 0 };
}

/** After a reconnect the stream starts again after the last numbered event, so pieces without a number come again. */
export function reconnected(run: RunView): RunView {
  return { ...run, tokens: run.tokens - run.looseTokens, looseTokens: 0 };
}

function outputOf(output: Json): Partial<StepView> {
  if (output === null || typeof output !== "object" || Array.isArray(output)) return {};
  const { frame, code } = output as { frame?: { row_count?: number; sample?: StepView["sample"] }; code?: string };
  return {
    ...(frame?.row_count !== undefined && { rows: frame.row_count, sample: frame.sample ?? [] }),
    ...(typeof code === "string" && { code }),
  };
}

function answered(run: RunView, answer: Answer): RunView {
  const { error } = answer.provenance;
  const ended = answer.status === "failed" || answer.status === "cancelled";
  return {
    ...run,
    answer,
    columns: answer.columns,
    rowCount: answer.row_count,
    rows: answer.rows.length ? answer.rows : run.rows,
    ...(ended && {
      phase: answer.status as Phase,
      error: error ?? { message: answer.text, hint: null, code: answer.status },
    }),
  };
}

/** Replaces step ids between backticks in a message with the names that the page shows. */
function withNames(text: string | null, steps: ReadonlyMap<string, ShownStep>): string | null {
  return text?.replace(/`([^`]+)`/g, (_, id: string) => steps.get(id)?.name ?? id) ?? null;
}

/** Steps that were running when the run ended are not running any more. */
function halted(steps: StepView[], state: State = "skipped"): StepView[] {
  return steps.map((step) => (step.state === "running" || step.state === "retrying" ? { ...step, state } : step));
}
