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

/** What the page knows of fields that the server's schema leaves open as JSON. */
interface Known {
  "run.started": { graph: { nodes?: PlanNode[] } | null };
  "plan.ready": { plan: { step?: string; nodes?: PlanNode[] } | null };
  "answer.metadata": { columns: OutputColumn[] };
  "answer.final": { answer: Answer };
}

/** The closed union of the events of a run, as the server's event log stores them. */
export type RunEvent = {
  [Type in EventType]: Type extends keyof Known ? Omit<Of<Type>, keyof Known[Type]> & Known[Type] : Of<Type>;
}[EventType];

const TERMINAL: ReadonlySet<EventType> = new Set(["run.finished", "run.failed", "run.cancelled"]);

export function isTerminal(event: RunEvent): boolean {
  return TERMINAL.has(event.type);
}
