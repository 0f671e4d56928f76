import { expect, it } from "vitest";
import { type CellFormat, plainFormat } from "../answer/cells";
import type { Answer, RowTotals } from "../api/types";
import { totalLine } from "./totals";

const columns = [
  { name: "city", type: "text" },
  { name: "revenue", type: "number" },
  { name: "growth", type: "number" },
] as Answer["columns"];
const formats: CellFormat[] = [
  plainFormat(columns[0]),
  { ...plainFormat(columns[1]), quantity: "amount" },
  { ...plainFormat(columns[2]), quantity: "growth" },
];
const answer = { columns, row_count: 18, status: "done" } as Answer;
const totals: RowTotals = {
  row_count: 18,
  columns: [
    { column: "revenue", total: 1234.5, minimum: 1, maximum: 900, null_count: 1 },
    { column: "growth", total: 7, minimum: 1, maximum: 6, null_count: 0 },
  ],
};

it("adds up amounts but not growth, and says which rows are covered", () => {
  expect(totalLine(answer, formats, totals)).toEqual({
    cells: [null, { text: "1,234.5", missing: 1 }, null],
    label: "All 18",
  });
  expect(totalLine(answer, formats, { ...totals, row_count: 5 })?.label).toBe("5 of 18");
});

it("gives no total for a single row or for a partial answer", () => {
  expect(totalLine({ ...answer, status: "partial" }, formats, totals)).toBeNull();
  expect(totalLine(answer, formats, { ...totals, row_count: 1 })).toBeNull();
});
