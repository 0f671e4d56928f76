import type { RunEvent } from "../api/events";
import type { Json } from "../api/types";
import type { State } from "../shared/Status";

/** What became of each node of a run, folded from its events. Pure functions. */

export interface NodeState {
  state: State;
  attempts: number;
  ms: number | null;
  output: Json;
  message: string | null;
  /** What a person is asked, while the node waits. */
  asks: { prompt: string; shown: Json; until: number | null } | null;
  log: { at: number; text: string }[];
}

export interface GraphRunState {
  nodes: Record<string, NodeState>;
  phase: "running" | "waiting" | "done" | "failed" | "cancelled";
  error: string | null;
  began: number | null;
  ended: number | null;
}

export const NO_RUN: GraphRunState = { nodes: {}, phase: "running", error: null, began: null, ended: null };
const NEW: NodeState = { state: "idle", attempts: 0, ms: null, output: null, message: null, asks: null, log: [] };

export function foldNodes(run: GraphRunState, event: RunEvent): GraphRunState {
  const now = { ...run, began: run.began ?? event.at };
  switch (event.type) {
    case "run.started":
      return { ...now, nodes: Object.fromEntries((event.graph?.nodes ?? []).map(({ id }) => [id, NEW])) };
    case "step.started":
      return changed(now, event, { state: "running", attempts: event.attempt, asks: null }, `Attempt ${event.attempt}`);
    case "step.progress":
      return changed(now, event, { message: event.message }, event.message);
    case "step.retried":
      return changed(now, event, { state: "retrying", message: event.message }, `Tries again: ${event.message}`);
    case "step.finished": {
      const done = { state: "ok", output: event.output, ms: event.duration_ms, message: null, asks: null } as const;
      return changed(now, event, done, "Done");
    }
    case "step.failed":
      return changed(now, event, { state: "error", message: event.message, ms: event.duration_ms }, event.message);
    case "step.skipped":
      return changed(now, event, { state: "skipped", message: event.reason }, event.reason);
    case "approval.requested": {
      const asks = { prompt: event.prompt, shown: event.effect, until: event.until ?? null };
      const waits = changed(now, event, { state: "waiting", message: event.prompt, asks }, event.prompt);
      return { ...waits, phase: "waiting" };
    }
    case "approval.decided":
      return { ...changed(now, event, { state: "running", asks: null }, "Decided"), phase: "running" };
    case "run.finished":
      return { ...now, phase: "done", ended: event.at };
    case "run.failed":
      return { ...now, phase: "failed", error: event.message, ended: event.at };
    case "run.cancelled":
      return { ...now, phase: "cancelled", ended: event.at };
    default:
      return now;
  }
}

function changed(
  run: GraphRunState,
  event: Extract<RunEvent, { node: string }>,
  change: Partial<NodeState>,
  text: string | null,
): GraphRunState {
  // Nodes inside of a map, loop or subgraph belong to the node that holds them.
  const id = event.node in run.nodes ? event.node : (/^[\w-]+/.exec(event.node)?.[0] ?? "");
  const before = run.nodes[id];
  if (!before) return run;
  const log = text
    ? [...before.log, { at: event.at, text: id === event.node ? text : `${event.node}: ${text}` }]
    : before.log;
  const inner = id !== event.node;
  const next = inner && !change.asks ? { ...before, log } : { ...before, ...change, log };
  return { ...run, nodes: { ...run.nodes, [id]: next } };
}
