import { expect, it } from "vitest";
import type { Column, Table } from "../api/types";
import { describeData } from "./describeData";

const column = (name: string, more: Partial<Column> = {}) => ({ name, type: "number", minimum: 1, ...more }) as Column;
const table = (name: string, row_count: number | null, columns: Column[] = [column("n")]) =>
  ({ name, row_count, columns }) as Table;
const DAY = column("day", { type: "date", minimum: "2012-01-01", maximum: "2015-12-31" });

it("says rows, period and columns of the only table", () => {
  expect(describeData({ tables: [table("weather", 1461, [DAY, column("wind"), column("rain")])] })).toBe(
    "1,461 rows from 2012-01-01 to 2015-12-31, with wind and rain.",
  );
  expect(describeData({ tables: [table("days", 1, [DAY])] })).toBe("1 row from 2012-01-01 to 2015-12-31, with day.");
  expect(
    describeData({
      tables: [
        table(
          "far",
          null,
          [..."abcdefg"].map((name) => column(name)),
        ),
      ],
    }),
  ).toBe("The table far, with a, b, c, d, e and 2 more.");
});

it("says several tables with their rows, the largest first", () => {
  expect(describeData({ tables: [table("a", 16), table("b", 12208), table("c", null)] })).toBe(
    "3 tables: b (12,208), a (16) and c.",
  );
  expect(describeData({ tables: [] })).toBe("It holds no tables.");
});
