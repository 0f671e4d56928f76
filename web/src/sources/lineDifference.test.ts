import { expect, it } from "vitest";
import { lineDifference } from "./lineDifference";

it("gives only the lines that changed", () => {
  expect(lineDifference("a\nb\nc", "a\nx\ny\nc")).toEqual([
    ["-", "b"],
    ["+", "x"],
    ["+", "y"],
  ]);
  expect(lineDifference("a", "a")).toEqual([]);
  expect(lineDifference("", "a")).toEqual([
    ["-", ""],
    ["+", "a"],
  ]);
});
