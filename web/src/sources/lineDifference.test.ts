import { expect, it } from "vitest";
import { lineDifference } from "./lineDifference";

it("tells the lines between what stayed the same", () => {
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
