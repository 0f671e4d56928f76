import { expect, it } from "vitest";
import type { Answer, Json } from "../api/types";
import { figureOf, inOrder } from "./figure";

function answer(changes: { [key: string]: unknown }, chart: Json, plan: Json = { order_by: [] }): Answer {
  const columns = [
    { name: "month", type: "date" },
    { name: "total", type: "number" },
  ];
  return { kind: "table", columns, row_count: 3, ...changes, provenance: { chart, plan } } as unknown as Answer;
}

const X = { field: "c0", type: "nominal" };
const Y = { field: "c1", type: "quantitative" };

it("draws times as a line", () => {
  const chart = { mark: { type: "line" }, encoding: { x: { field: "c0", type: "temporal" }, y: Y } };
  expect(figureOf(answer({}, chart))).toEqual({ kind: "line", label: 0, measures: [1], series: null });
});

it("draws several measures as several lines", () => {
  const chart = { mark: "line", encoding: { x: X, y: { field: "value" } }, transform: [{ fold: ["c1", "c2"] }] };
  expect(figureOf(answer({}, chart))).toMatchObject({ kind: "line", measures: [1, 2] });
});

it("ranks names with bars, upright or lying", () => {
  const upright = figureOf(answer({}, { mark: "bar", encoding: { x: X, y: Y } }));
  const lying = figureOf(answer({}, { mark: "bar", encoding: { y: X, x: Y } }));
  expect(upright).toEqual({ kind: "ranking", label: 0, measure: 1, others: [], sorted: true });
  expect(lying).toEqual(upright);
});

it("keeps the order that was asked for, and else puts the highest first", () => {
  const rows: Json[][] = [
    ["a", 1],
    ["b", null],
    ["c", 9],
  ];
  const chart = { mark: "bar", encoding: { x: X, y: Y } };
  const asked = figureOf(answer({}, chart, { order_by: [{ expr: "c1" }] }));
  expect(inOrder(rows, asked!)).toEqual(rows);
  expect(inOrder(rows, figureOf(answer({}, chart))!).map(([name]) => name)).toEqual(["c", "a", "b"]);
});

it("draws no points that nobody asked for", () => {
  const chart = { mark: "point", encoding: { x: Y, y: Y } };
  expect(figureOf(answer({}, chart))).toEqual({ kind: "rows" });
  expect(figureOf(answer({ kind: "chart" }, chart))).toEqual({ kind: "drawn" });
});

it("shows nothing beside a value, and nothing where nothing was found", () => {
  expect(figureOf(answer({ kind: "value", row_count: 1 }, null))).toBeNull();
  expect(figureOf(answer({ row_count: 0 }, null))).toBeNull();
  expect(figureOf(answer({}, null))).toEqual({ kind: "rows" });
});
