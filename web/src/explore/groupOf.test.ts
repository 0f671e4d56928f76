import { expect, it } from "vitest";
import { drillOf, endOf } from "./groupOf";

const by = { path: [], column: "carrier" };

it("leaves the rows of one group, by its value or its period", () => {
  expect(drillOf({ kind: "group", by, unit: null }, "MQ")).toMatchObject({ kind: "filter", of: by, values: ["MQ"] });
  expect(drillOf({ kind: "group", by, unit: "month" }, "2025-12-01")).toEqual({
    kind: "period",
    of: by,
    start: "2025-12-01",
    end: "2026-01-01",
  });
  expect(drillOf({ kind: "group", by, unit: null }, null)).toBeNull();
});

it("knows the first day after a period", () => {
  expect(["day", "week", "month", "quarter", "year"].map((unit) => endOf("2024-02-01", unit))).toEqual([
    "2024-02-02",
    "2024-02-08",
    "2024-03-01",
    "2024-05-01",
    "2025-02-01",
  ]);
});
