import type { AnswerGraph } from "../api/types";

/** What the picture of ways needs beside the graph itself. Pure. */

export interface DrawnEdge {
  source: string;
  target: string;
  label: string;
  directed: boolean;
}

const COLOURS = 6;

/** One line for each pair of things. Several ways to get from one to the other share it and its label. */
export function drawnEdges({ nodes, edges }: AnswerGraph): DrawnEdge[] {
  const known = new Set(nodes.map(({ id }) => id));
  const drawn = new Map<string, DrawnEdge>();
  for (const { source, target, label, directed } of edges) {
    if (!known.has(source) || !known.has(target)) continue;
    const key = JSON.stringify([source, target]);
    const before = drawn.get(key);
    const labels = [before?.label, label].filter(Boolean).join(", ");
    drawn.set(key, { source, target, label: labels, directed: directed || (before?.directed ?? false) });
  }
  return [...drawn.values()];
}

/** The number of the colour of each kind, in the order in which the kinds appear. The seventh kind on are quiet. */
export function colourOf(graph: AnswerGraph): Map<string, number> {
  const kinds = [...new Set(graph.nodes.map(({ kind }) => kind))];
  return new Map(kinds.map((kind, i) => [kind, i < COLOURS ? i + 1 : 0]));
}

/** Each line of the picture as words, for who cannot see it. */
export function inWords(graph: AnswerGraph): string[] {
  const names = new Map(graph.nodes.map(({ id, kind, name }) => [id, `${name} (${inPlainWords(kind)})`]));
  return drawnEdges(graph).map(({ source, target, label, directed }) => {
    const between = directed ? label || "leads to" : `${label} –`.trim();
    return `${names.get(source)} ${between} ${names.get(target)}`;
  });
}

/** A kind is often the name of a column or table: `group_rule` is read as "group rule". */
export function inPlainWords(kind: string): string {
  return kind.replaceAll("_", " ");
}
