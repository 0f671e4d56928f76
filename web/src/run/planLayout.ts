/** Places the boxes of a plan: one column for each depth, each column centred vertically. Pure functions. */

export interface Box {
  id: string;
  after: string[];
}

export interface Placed {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface PlanLayout {
  width: number;
  height: number;
  boxes: Placed[];
  edges: { from: string; to: string; path: string }[];
}

const GAP_X = 32;
const GAP_Y = 14;
const HEIGHT = 40;
const PAD = 2;

export function layoutPlan(nodes: Box[], boxWidth = 148): PlanLayout {
  const depths = depthsOf(nodes);
  const columns: Box[][] = [];
  for (const node of nodes) (columns[depths.get(node.id) ?? 0] ??= []).push(node);
  const tallest = Math.max(1, ...columns.map((column) => column?.length ?? 0));
  const height = tallest * (HEIGHT + GAP_Y) - GAP_Y + 2 * PAD;
  const boxes = columns.flatMap((column, depth) =>
    (column ?? []).map((node, i): Placed => {
      const used = column.length * (HEIGHT + GAP_Y) - GAP_Y;
      return {
        id: node.id,
        x: PAD + depth * (boxWidth + GAP_X),
        y: (height - used) / 2 + i * (HEIGHT + GAP_Y),
        width: boxWidth,
        height: HEIGHT,
      };
    }),
  );
  const width = columns.length * (boxWidth + GAP_X) - GAP_X + 2 * PAD;
  return { width, height, boxes, edges: edgesOf(nodes, boxes) };
}

function depthsOf(nodes: Box[]): Map<string, number> {
  const depths = new Map<string, number>();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  function depth(id: string, above: string[]): number {
    const known = depths.get(id);
    if (known !== undefined) return known;
    const before = (byId.get(id)?.after ?? []).filter((other) => byId.has(other) && !above.includes(other));
    const found = before.length ? 1 + Math.max(...before.map((other) => depth(other, [...above, id]))) : 0;
    depths.set(id, found);
    return found;
  }
  for (const node of nodes) depth(node.id, []);
  return depths;
}

function edgesOf(nodes: Box[], boxes: Placed[]) {
  const at = new Map(boxes.map((box) => [box.id, box]));
  return nodes.flatMap((node) =>
    node.after.flatMap((before) => {
      const from = at.get(before);
      const to = at.get(node.id);
      if (!from || !to || from.x >= to.x) return [];
      const [x1, y1, x2, y2] = [from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2];
      const middle = (x1 + x2) / 2;
      return [{ from: before, to: node.id, path: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}` }];
    }),
  );
}
