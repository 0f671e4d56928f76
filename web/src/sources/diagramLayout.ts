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

export interface Point {
  x: number;
  y: number;
}

export interface TableLine {
  from: string;
  to: string;
  label: string;
}

export interface Layout {
  /** The upper left corner of each table. */
  places: Map<string, Point>;
  /** The way of each line around the tables, and the middle of its label; null if an end is not drawn. */
  ways: ({ points: Point[]; label: Point } | null)[];
  width: number;
  height: number;
}

const LETTER = 7.4;
const LABEL_HEIGHT = 18;
const LOOP = 30;

/** Places tables and lines. A table is above those that it refers to; in a small diagram to the left of them. */
export function layoutTables(tables: string[], lines: readonly TableLine[], box = BOX): Layout {
  const graph = new graphlib.Graph({ multigraph: true });
  const large = box === BOX;
  graph.setGraph(
    large ? { rankdir: "TB", nodesep: 28, edgesep: 16, ranksep: 34 } : { rankdir: "LR", nodesep: 22, ranksep: 44 },
  );
  for (const table of tables) graph.setNode(table, { ...box });
  lines.forEach(({ from, to, label }, place) => {
    if (!tables.includes(from) || !tables.includes(to)) return;
    const size = large ? { width: label.length * LETTER + 8, height: LABEL_HEIGHT, labelpos: "c" } : {};
    graph.setEdge(from, to, size, String(place));
  });
  layout(graph);
  const places = tables.map((table) => {
    const { x = 0, y = 0 } = graph.node(table) as Partial<Point>;
    return [table, { x: x - box.width / 2, y: y - box.height / 2 }] as const;
  });
  const ways = lines.map(({ from, to }, place) => {
    const way = graph.edge(from, to, String(place)) as ({ points: Point[] } & Partial<Point>) | undefined;
    if (!way) return null;
    const label = { x: way.x ?? 0, y: way.y ?? 0 };
    const { x, y } = graph.node(from) as Point;
    return from === to
      ? { points: loop({ x: x + box.width / 2, y }), label: { ...label, y: y - LOOP } }
      : { points: way.points, label };
  });
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { places: new Map(places), ways, width, height };
}

/** The line of a table that refers to itself, beside its box. */
function loop({ x, y }: Point): Point[] {
  return [
    { x, y: y - 9 },
    { x: x + LOOP, y: y - 16 },
    { x: x + LOOP, y: y + 16 },
    { x, y: y + 9 },
  ];
}

/** Where the mark of an end of a line stands: a little way along it, beside it. */
export function markAt(end: Point, next: Point): Point {
  const length = Math.hypot(next.x - end.x, next.y - end.y) || 1;
  const [dx, dy] = [(next.x - end.x) / length, (next.y - end.y) / length];
  return { x: end.x + 11 * dx + 6 * Math.abs(dy), y: end.y + 11 * dy + 4 - 9 * Math.abs(dx) };
}

/** A path through points that bends smoothly at each of them. */
export function pathThrough(points: readonly Point[]): string {
  const [first, ...others] = points;
  if (!first) return "";
  const middle = (a: Point, b: Point) => `${(a.x + b.x) / 2} ${(a.y + b.y) / 2}`;
  const bends = others.slice(0, -1).map((point, i) => `Q${point.x} ${point.y} ${middle(point, others[i + 1]!)}`);
  const last = others.at(-1) ?? first;
  return `M${first.x} ${first.y}${bends.join("")}L${last.x} ${last.y}`;
}
