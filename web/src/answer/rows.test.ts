import { expect, it } from "vitest";
import type { OutputColumn } from "../api/types";
import { arranged } from "./rows";

const columns: OutputColumn[] = [
  { name: "city", type: "text" },
  { name: "n", type: "integer" },
];
const rows = [
  ["Paris", 2],
  ["Berlin", null],
  ["Rome", 10],
];

it("sorts nulls last in both directions", () => {
  const by = (descending: boolean) =>
    arranged(columns, rows, { sort: { column: "n", descending }, search: "" }).map((row) => row[0]);
  expect(by(false)).toEqual(["Paris", "Rome", "Berlin"]);
  expect(by(true)).toEqual(["Rome", "Paris", "Berlin"]);
});

it("finds rows by any of their values", () => {
  expect(arranged(columns, rows, { sort: null, search: "ro" })).toEqual([["Rome", 10]]);
});
