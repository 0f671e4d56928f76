import { expect, it } from "vitest";
import type { Answer, Json, OutputColumn } from "../api/types";
import { chartFields, chartRows, chartSpec, defaultKind, suitsPie } from "./chartSpec";

const EVIL = "</script><img src=x onerror=alert(1)>";
const columns: OutputColumn[] = [
  { name: EVIL, type: "text" },
  { name: "n", type: "integer" },
];
const rows = [
  ["a", 1],
  ["b", 2],
];
const answer = { columns, provenance: { format: null, chart: null } } as unknown as Answer;

it("charts a number by a name, and prefers a time to a name", () => {
  expect(chartFields(columns, rows)).toEqual({ label: 0, measure: 1, series: null });
  const timed: OutputColumn[] = [
    { name: "k", type: "text" },
    { name: "d", type: "date" },
    { name: "n", type: "number" },
  ];
  expect(
    chartFields(timed, [
      ["a", "2026-01-01", 1],
      ["b", "2026-01-02", 2],
    ]),
  ).toEqual({ label: 1, measure: 2, series: 0 });
});

it("finds no chart in one row, nor without numbers", () => {
  expect(chartFields(columns, rows.slice(0, 1))).toBeNull();
  expect(chartFields(columns.slice(0, 1), rows)).toBeNull();
});

it("uses names from data only as titles, never as fields", () => {
  const fields = chartFields(columns, rows)!;
  const spec = JSON.stringify(chartSpec(answer, defaultKind(answer, fields), fields, rows));
  expect(spec).toContain('"field":"c0"');
  expect(spec.match(/onerror/g)).toBeNull(); // bars by name stand beside their names, and need no title
  expect(JSON.stringify(chartSpec(answer, "line", fields, rows)).match(/onerror/g)).toHaveLength(1);
});

it("starts bars at 0 and leaves room for their labels", () => {
  const fields = chartFields(columns, rows)!;
  const { x } = (
    chartSpec(answer, "bar", fields, [
      ["a", -50],
      ["b", 100],
    ]) as { encoding: { x: { scale: unknown } } }
  ).encoding;
  expect(x.scale).toEqual({ domainMin: -66, domainMax: 116, nice: false });
  expect(chartRows(answer, fields, [["a", 1234]])[0]).toEqual({ c0: "a", c1: 1234, said: "1,234" });
});

it("draws a pie of a few parts of a whole, and of nothing else", () => {
  const fields = chartFields(columns, rows)!;
  const parts: Json[][] = [
    ["a", 1],
    ["b", 3],
  ];
  const pie = chartSpec(answer, "pie", fields, parts) as { mark: { type: string }; encoding: { theta: unknown } };
  expect(pie.mark.type).toBe("arc");
  expect(pie.encoding.theta).toMatchObject({ field: "c1", type: "quantitative" });
  expect(suitsPie(fields, parts)).toBe(true);
  expect(suitsPie(fields, [...parts, ["c", -1]])).toBe(false);
  expect(suitsPie(fields, [...parts, ["c", null]])).toBe(false);
  const many = Array.from({ length: 9 }, (_, i) => [String(i), i]);
  expect(suitsPie(fields, many)).toBe(false);
});
