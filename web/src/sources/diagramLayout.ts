import { graphlib, layout } from "@dagrejs/dagre";

export const BOX = { width: 148, height: 46 };

/** The most tables that one diagram can show legibly. */
export const MOST_DRAWN = 60;

type Pair = readonly [from: string, to: string];

/** The tables within two joins of a table, including itself, nearest first. */
export function around(table: string, pairs: readonly Pair[], most = MOST_DRAWN): string[] {
  let found = [table];
  for (let joins = 0; joins < 2; joins++) {
    const near = pairs.flatMap(([from, to]) => (found.includes(from) ? [to] : found.includes(to) ? [from] : []));
    found = [...new Set([...found, ...near])];
  }
  return found.slice(0, most);
}

/** The table with the most relationships. */
export function busiest(tables: readonly string[], pairs: readonly Pair[]): string {
  const joins = new Map<string, number>();
  for (const name of pairs.flat()) joins.set(name, (joins.get(name) ?? 0) + 1);
  return tables.reduce(
    (best, name) => ((joins.get(name) ?? 0) > (joins.get(best) ?? 0) ? name : best),
    tables[0] ?? "",
  );
}

/** The positions of tables. A table is above those that it refers to; in a small diagram to the left of them. */
export function layoutTables(
  tables: string[],
  pairs: [from: string, to: string][],
  box = BOX,
): Map<string, { x: number; y: number }> {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph(
    box === BOX ? { rankdir: "TB", nodesep: 28, ranksep: 72 } : { rankdir: "LR", nodesep: 22, ranksep: box.width / 3 },
  );
  graph.setDefaultEdgeLabel(() => ({}));
  for (const table of tables) graph.setNode(table, { ...box });
  for (const [from, to] of pairs)
    if (from !== to && tables.includes(from) && tables.includes(to)) graph.setEdge(from, to);
  layout(graph);
  return new Map(
    tables.map((table) => {
      const { x = 0, y = 0 } = graph.node(table) as { x?: number; y?: number };
      return [table, { x: x - box.width / 2, y: y - box.height / 2 }];
    }),
  );
}
