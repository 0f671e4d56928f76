import type { Answer, Json, OutputColumn, Reply } from "./types";

type Wire = Reply<"RunEvent">;
type Of<Type extends EventType> = Extract<Wire, { type: Type }>;

export type EventType = Wire["type"];

export interface PlanNode {
  id: string;
  kind: string;
  after?: string[];
  config?: Record<string, Json>;
}

/** The types of event fields that the server's schema declares only as JSON. */
interface Known {
  "run.started": { graph: { nodes?: PlanNode[] } | null };
  "plan.ready": { plan: { step?: string; nodes?: PlanNode[] } | null };
  "answer.metadata": { columns: OutputColumn[] };
  "answer.final": { answer: Answer };
}

/** All events of a run, as the server stores them. */
export type RunEvent = {
  [Type in EventType]: Type extends keyof Known ? Omit<Of<Type>, keyof Known[Type]> & Known[Type] : Of<Type>;
}[EventType];

const TERMINAL: ReadonlySet<EventType> = new Set(["run.finished", "run.failed", "run.cancelled"]);

export function isTerminal(event: RunEvent): boolean {
  return TERMINAL.has(event.type);
}
