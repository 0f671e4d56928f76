import { graphlib, layout } from "@dagrejs/dagre";

export const NODE = { width: 168, height: 56 };

/** The positions of the nodes of a graph, from left to right or `down`. `apart`: the room between two that follow. */
export function layoutGraph(
  nodes: readonly { id: string; after: readonly string[] }[],
  { apart = 56, down = false }: { apart?: number; down?: boolean } = {},
) {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: down ? "TB" : "LR", nodesep: 28, ranksep: apart });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(id, { ...NODE });
  // A node can also come after the input of the graph, which is not drawn.
  for (const { id, after } of nodes) for (const from of after) if (graph.hasNode(from)) graph.setEdge(from, id);
  layout(graph);
  return new Map(
    nodes.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(id) as { x?: number; y?: number };
      return [id, { x: x - NODE.width / 2, y: y - NODE.height / 2 }];
    }),
  );
}
