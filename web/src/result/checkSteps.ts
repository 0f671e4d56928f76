import type { Answer, RunTimeline, StepRecord } from "../api/types";
import { type ShownStep, type StepView, shownSteps } from "../run/run";
import type { StepKinds } from "../run/stepKinds";
import { languageName } from "../shared/languages";
import type { State } from "../shared/Status";
import { yamlOf } from "./yaml";

/** A step as the answer accounts for it: the rows it read, the rows it gave, and the program between them. */
export interface CheckStep extends ShownStep {
  rowsIn: number | null;
  language: string | null;
  /** What the program is called. */
  program: string;
  /** Whether its code is the plan that it made. A plan is shown, but cannot be changed and run like a program. */
  isPlan: boolean;
}

const STATES: Record<RunTimeline["steps"][number]["status"], State> = {
  not_started: "idle",
  running: "running",
  waiting: "waiting",
  done: "ok",
  failed: "error",
  skipped: "skipped",
};

/** Every step of a run, in order. Until the timeline has arrived: the steps that the answer records. */
export function checkSteps(answer: Answer, timeline: RunTimeline | null, kinds: StepKinds): CheckStep[] {
  const records = new Map(answer.steps.map((step) => [step.id, step]));
  const steps = shownSteps(timeline ? timeline.steps.map(timelineStep) : answer.steps.map(recordedStep), kinds);
  const planner = steps.find((step) => step.descriptor?.produces === "graph");
  return steps.map((step) => {
    if (step === planner) return planStep(step, answer);
    if (step.descriptor?.produces === "answer")
      return { ...step, rowsIn: answer.row_count, rows: answer.row_count, language: null, program: "", isPlan: false };
    return programStep(step, records.get(step.id.split("/").at(-1) ?? ""));
  });
}

const BLANK = { attempt: 1, title: null, note: null, done: null, total: null, sample: [] };

function timelineStep(step: RunTimeline["steps"][number]): StepView {
  return {
    ...BLANK,
    id: step.id,
    kind: step.kind,
    source: step.source,
    after: step.after,
    state: STATES[step.status],
    note: step.message,
    ms: step.start_ms === null || step.end_ms === null ? null : step.end_ms - step.start_ms,
    rows: step.row_count,
    code: step.code,
  };
}

function recordedStep(step: StepRecord): StepView {
  return {
    ...BLANK,
    id: step.id,
    kind: step.kind,
    source: step.source,
    after: [],
    state: step.status === "done" ? "ok" : step.status === "failed" ? "error" : "skipped",
    ms: step.duration_ms,
    rows: step.row_count,
    code: step.code,
  };
}

function planStep(step: ShownStep, answer: Answer): CheckStep {
  const { plan } = answer.provenance;
  const code = plan === null ? null : yamlOf(plan);
  return { ...step, rowsIn: null, code, language: "yaml", program: "Plan, as understood", isPlan: true };
}

function programStep(step: ShownStep, record: StepRecord | undefined): CheckStep {
  const language = record?.language ?? step.descriptor?.language ?? null;
  return {
    ...step,
    rowsIn: record?.rows_in ?? null,
    rows: record?.row_count ?? step.rows,
    code: record?.code ?? step.code,
    note: record?.sandbox ? `in ${record.sandbox}` : step.note,
    language,
    program: language ? `${languageName(language)}, as it ran` : "As it ran",
    isPlan: false,
  };
}

/** Whether the steps branch. A chain of steps needs no picture. */
export function branches(steps: readonly StepView[]): boolean {
  return (
    steps.some((step) => step.after.length > 1) ||
    steps.some((step) => steps.filter((other) => other.after.some((id) => step.after.includes(id))).length > 1)
  );
}
