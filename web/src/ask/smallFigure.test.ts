import { expect, it } from "vitest";
import { figureOf } from "./smallFigure";

it("shows a number alone, names as bars from the largest on, and dates as columns", () => {
  expect(figureOf([[1297]], 1)).toEqual({ kind: "value", text: "1,297" });
  const bars = figureOf(
    [
      ["a", 1],
      ["b", 4],
      ["c", 2],
      ["d", 3.25],
    ],
    4,
  );
  expect(bars).toMatchObject({ kind: "bars", more: 1 });
  expect(bars?.kind === "bars" && bars.bars.map(({ label, value }) => `${label} ${value}`)).toEqual([
    "b 4.0",
    "d 3.3",
    "c 2.0",
  ]);
  expect(
    figureOf(
      [
        ["2025-01-01", 1],
        ["2025-02-01", 2],
      ],
      2,
    ),
  ).toEqual({ kind: "series", shares: [0.5, 1], range: "1 to 2" });
});

it("leaves to the sentence what has no such figure", () => {
  expect(
    figureOf(
      [
        ["a", -1],
        ["b", -2],
      ],
      2,
    ),
  ).toBeNull();
  expect(figureOf([["a", "b"]], 1)).toBeNull();
  expect(
    figureOf(
      [
        ["a", 1, 2],
        ["b", 2, 3],
      ],
      2,
    ),
  ).toBeNull();
  expect(
    figureOf(
      [
        [null, 1],
        ["a", 1],
      ],
      2,
    ),
  ).toBeNull();
});

it("finds the name beside the number, and says how much of a long series is drawn", () => {
  const swapped = figureOf(
    [
      [1, "a"],
      [2, "b"],
    ],
    2,
  );
  expect(swapped?.kind === "bars" && swapped.bars.map(({ label }) => label)).toEqual(["b", "a"]);
  expect(figureOf([["sun"]], 1)).toEqual({ kind: "value", text: "sun" });
  expect(
    figureOf(
      [
        ["2025-01-01", 1],
        ["2025-01-02", 2.5],
      ],
      365,
    ),
  ).toMatchObject({ range: "the first 2 of 365: 1.0 to 2.5" });
});
