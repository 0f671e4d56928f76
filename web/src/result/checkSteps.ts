import type { Answer, RunTimeline, StepRecord } from "../api/types";
import { NEW_RUN, type StepView, shownSteps } from "../ask/run";
import { stepName } from "../ask/stepNames";
import type { Language } from "../shared/Code";
import type { State } from "../shared/Status";
import { yamlOf } from "./yaml";

/** A step as it is accounted for: what it read, what came of it, and the program that made the one of the other. */
export interface CheckStep extends StepView {
  rowsIn: number | null;
  language: Language;
  /** What the program is called. */
  program: string;
}

const STATES: Record<RunTimeline["steps"][number]["status"], State> = {
  not_started: "idle",
  running: "running",
  waiting: "waiting",
  done: "ok",
  failed: "error",
  skipped: "skipped",
};

/** Every step of a run, in its order; those that the answer records, as long as its times are not known. */
export function checkSteps(answer: Answer, timeline: RunTimeline | null): CheckStep[] {
  const records = new Map(answer.steps.map((step) => [step.id, step]));
  if (!timeline) return answer.steps.map((step) => accounted(viewOf(step), step, answer));
  const steps = timeline.steps.map((step) => ({
    ...BLANK,
    id: step.id,
    kind: step.kind,
    name: stepName({ id: step.id, kind: step.kind, config: { source: step.source } }),
    source: step.source,
    after: step.after,
    state: STATES[step.status],
    note: step.message,
    ms: step.start_ms === null || step.end_ms === null ? null : step.end_ms - step.start_ms,
    rows: step.row_count,
    code: step.code,
  }));
  return shownSteps({ ...NEW_RUN, steps }).map((step) =>
    accounted(step, records.get(step.id.split("/").at(-1) ?? ""), answer),
  );
}

const BLANK = { attempt: 1, note: null, done: null, total: null, sample: [] };

function viewOf(step: StepRecord): StepView {
  const state = step.status === "done" ? "ok" : step.status === "failed" ? "error" : "skipped";
  const name = stepName({ id: step.id, kind: step.kind, config: { source: step.source } });
  return {
    ...BLANK,
    id: step.id,
    kind: step.kind,
    name,
    source: step.source,
    after: [],
    state,
    ms: step.duration_ms,
    rows: step.row_count,
    code: step.code,
  };
}

function accounted(step: StepView, record: StepRecord | undefined, answer: Answer): CheckStep {
  const { plan } = answer.provenance;
  if (step.kind === "understand")
    return {
      ...step,
      rowsIn: null,
      code: plan === null ? null : yamlOf(plan),
      language: "yaml",
      program: "Plan, as understood",
    };
  if (step.kind === "present")
    return { ...step, rowsIn: answer.row_count, rows: answer.row_count, language: "sql", program: "" };
  const python = step.kind === "python";
  return {
    ...step,
    rowsIn: record?.rows_in ?? null,
    rows: record?.row_count ?? step.rows,
    code: record?.code ?? step.code,
    note: record?.sandbox ? `in ${record.sandbox}` : step.note,
    language: python ? "python" : "sql",
    program: `${python ? "Python" : "SQL"}, as it ran`,
  };
}

/** Whether the plan is more than a chain, so that a picture of it tells something. */
export function branches(steps: readonly StepView[]): boolean {
  return (
    steps.some((step) => step.after.length > 1) ||
    steps.some((step) => steps.filter((other) => other.after.some((id) => step.after.includes(id))).length > 1)
  );
}
