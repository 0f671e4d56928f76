import { expect, it } from "vitest";
import { around, BOX, busiest, layoutTables, type Point, pathThrough } from "./diagramLayout";

const line = (from: string, to: string, label = `${to}_id`) => ({ from, to, label });

it("places tables above those they refer to", () => {
  const { places, ways } = layoutTables(
    ["orders", "customers", "alone"],
    [line("orders", "customers"), line("orders", "orders"), line("orders", "elsewhere")],
  );
  expect(places.size).toBe(3);
  expect(places.get("orders")!.y + BOX.height).toBeLessThan(places.get("customers")!.y);
  expect(ways.map((way) => way !== null)).toEqual([true, true, false]);
});

it("leads no line and no label through a table that it does not join", () => {
  const lines = [
    ["orders", "customers"],
    ["orders", "stores"],
    ["orders", "employees"],
    ["items", "orders"],
    ["items", "products"],
    ["employees", "stores"],
    ["tickets", "customers"],
    ["tickets", "orders"],
    ["tickets", "employees"],
  ].map(([from, to]) => line(from!, to!));
  const { places, ways } = layoutTables([...new Set(lines.flatMap(({ from, to }) => [from, to]))], lines);
  const inside = ({ x, y }: Point, { x: left, y: top }: Point) =>
    x > left && x < left + BOX.width && y > top && y < top + BOX.height;
  const labels = ways.map((way) => way!.label);
  lines.forEach(({ from, to }, i) => {
    const { points } = ways[i]!;
    const along = points.flatMap((point, at) => [point, between(point, points[at + 1] ?? point)]);
    for (const [table, place] of places)
      if (table !== from && table !== to) expect(along.some((point) => inside(point, place))).toBe(false);
  });
  for (const label of labels) for (const place of places.values()) expect(inside(label, place)).toBe(false);
  const apart = labels.every((a, i) => labels.every((b, j) => i === j || Math.hypot(a.x - b.x, a.y - b.y) > 18));
  expect(apart).toBe(true);
});

function between(a: Point, b: Point): Point {
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}

it("bends at the points of a path", () => {
  const points = [0, 10, 20].map((at) => ({ x: at, y: at * 2 }));
  expect(pathThrough(points)).toBe("M0 0Q10 20 15 30L20 40");
  expect(pathThrough([])).toBe("");
});

it("draws only the nearest tables if there are too many", () => {
  const pairs = [
    ["a", "b"],
    ["b", "c"],
    ["d", "b"],
    ["d", "e"],
    ["x", "y"],
  ] as const;
  expect(around("a", pairs)).toEqual(["a", "b", "c", "d"]);
  expect(around("a", pairs, 3)).toEqual(["a", "b", "c"]);
  expect(busiest(["a", "b", "x"], pairs)).toBe("b");
});
