import { expect, it } from "vitest";
import { BAR_WIDTH, barOf, scaleOf } from "./cellBar";

it("draws losses to the left of the zero line and gains to the right", () => {
  const scale = scaleOf(-25, 75, 60)!;
  expect(barOf(75, scale)).toEqual({ zero: 19, start: 19, length: 57 });
  expect(barOf(-25, scale)).toEqual({ zero: 19, start: 0, length: 19 });
  expect(barOf(0, scale)?.length).toBe(0);
  expect(barOf(0.001, scale)?.length).toBe(1);
});

it("starts shares at zero, and draws no bar without a number", () => {
  expect(barOf(40, scaleOf(10, 40, 60)!)).toEqual({ zero: -0, start: -0, length: BAR_WIDTH });
  expect(barOf(null, scaleOf(10, 40, 60)!)).toBeNull();
  expect(scaleOf(0, 0, 60)).toBeNull();
  expect(scaleOf(null, null, 60)).toBeNull();
});
