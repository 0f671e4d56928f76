import { expect, it } from "vitest";
import { cellText } from "../answer/cells";
import { columnFormat } from "./columnFormat";

it("gives all numbers of a column the same number of decimals", () => {
  const format = columnFormat({ name: "revenue", type: "number" }, [141216.6, 293179.65, null, 7]);
  expect([141216.6, 293179.65, 7].map((value) => cellText(value, format))).toEqual([
    "141,216.60",
    "293,179.65",
    "7.00",
  ]);
});

it("leaves integers and text unchanged", () => {
  expect(cellText(12_000, columnFormat({ name: "n", type: "integer" }, [12_000, 3]))).toBe("12,000");
  expect(cellText("x", columnFormat({ name: "name", type: "text" }, ["x"]))).toBe("x");
});
