import type { GraphDifference, GraphReport } from "../api/types";
import type { Mark } from "./Canvas";

type Nodes = GraphReport["nodes"];

/** The nodes of two versions in one picture: those that count now, and those that are gone. */
export function comparedNodes(
  before: Nodes,
  after: Nodes,
  difference: Pick<GraphDifference, "added" | "removed" | "changed">,
): [nodes: Nodes, marks: Record<string, Mark>] {
  const gone = before.filter(({ id }) => difference.removed.includes(id));
  const marks: Record<string, Mark> = {};
  for (const id of difference.added) marks[id] = "added";
  for (const id of difference.removed) marks[id] = "removed";
  for (const id of difference.changed) marks[id] = "changed";
  return [[...after, ...gone], marks];
}
