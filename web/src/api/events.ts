import type { Answer, Json, OutputColumn } from "./types";

/** The closed union of what a run tells, as the server's event log stores it. */
interface Told {
  run: string;
  seq: number;
  at: number;
}

export interface PlanNode {
  id: string;
  kind: string;
  after?: string[];
  config?: Record<string, Json>;
}

export type RunEvent = Told &
  (
    | { type: "run.started"; graph: { nodes?: PlanNode[] } | null; question: string | null }
    | { type: "run.resumed" }
    | { type: "plan.ready"; plan: { step?: string; nodes?: PlanNode[] } | null; sentence: string | null }
    | { type: "step.started"; node: string; attempt: number }
    | { type: "step.progress"; node: string; message: string; done: number | null; total: number | null }
    | { type: "step.output"; node: string; channel: string; data: Json }
    | { type: "step.retried"; node: string; attempt: number; delay: number; code: string; message: string }
    | { type: "step.finished"; node: string; output: Json; attempt: number; duration_ms: number; partial: boolean }
    | {
        type: "step.failed";
        node: string;
        kind: string;
        code: string;
        message: string;
        hint: string | null;
        duration_ms: number;
      }
    | { type: "step.skipped"; node: string; reason: string }
    | { type: "approval.requested"; node: string; prompt: string; effect: Json }
    | { type: "approval.decided"; node: string; approved: boolean; by: string; note: string | null }
    | { type: "answer.metadata"; kind: string; columns: OutputColumn[]; row_count: number; chart: Json }
    | { type: "answer.batch"; offset: number; count: number; rows: Json[][] | null }
    | { type: "answer.final"; answer: Answer }
    | { type: "run.finished"; status: string; output: Json }
    | { type: "run.failed"; kind: string; code: string; message: string; hint: string | null; node: string | null }
    | { type: "run.cancelled"; reason: string }
  );

export type EventType = RunEvent["type"];

const TERMINAL: ReadonlySet<EventType> = new Set(["run.finished", "run.failed", "run.cancelled"]);

export function isTerminal(event: RunEvent): boolean {
  return TERMINAL.has(event.type);
}
