import { graphlib, layout } from "@dagrejs/dagre";

export const BOX = { width: 148, height: 46 };

/** Where each table stands: those that point at others to their left. */
export function layoutTables(tables: string[], pairs: [from: string, to: string][], box = BOX): Map<string, { x: number; y: number }> {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", nodesep: 22, ranksep: box.width / 2 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const table of tables) graph.setNode(table, { ...box });
  for (const [from, to] of pairs) if (from !== to && tables.includes(from) && tables.includes(to)) graph.setEdge(from, to);
  layout(graph);
  return new Map(
    tables.map((table) => {
      const { x = 0, y = 0 } = graph.node(table) as { x?: number; y?: number };
      return [table, { x: x - box.width / 2, y: y - box.height / 2 }];
    }),
  );
}
