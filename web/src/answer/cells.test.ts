import { expect, it } from "vitest";
import { asTabbed, cellText, plainFormat } from "./cells";

const number = {
  header: "n",
  unit: null,
  right: true,
  quantity: null,
  bar: null,
  format: { kind: "number", decimals: 2, grouped: true, percent: false },
} as const;
const text = plainFormat({ name: "t", type: "text" });

it("writes numbers with a true minus, grouped, with equal decimals", () => {
  expect(cellText(-1234.5, number)).toBe("−1,234.50");
  expect(cellText(9007199254740993n, number)).toBe("9,007,199,254,740,993");
  expect(cellText(0.25, { ...number, format: { ...number.format, percent: true, decimals: 1 } })).toBe("25.0 %");
});

it("does not group keys", () => {
  expect(cellText(12345, plainFormat({ name: "order_id", type: "integer" }))).toBe("12345");
  expect(cellText(12345, plainFormat({ name: "amount", type: "integer" }))).toBe("12,345");
});

it("formats dates in the style of their column", () => {
  const date = (style: string) => ({ ...text, format: { kind: "date", style } as const });
  expect(cellText("2026-11-16T04:05:06", date("quarter"))).toBe("2026 Q4");
  expect(cellText("2026-11-16T04:05:06", date("minute"))).toBe("2026-11-16 04:05");
});

it("copies no formulas, and keeps the rows and columns of the table", () => {
  expect(
    asTabbed(
      ["a", "b"],
      [
        ["=1+1", "x\ty"],
        [-5, null],
      ],
    ),
  ).toBe("a\tb\n'=1+1\tx y\n-5\t");
});
