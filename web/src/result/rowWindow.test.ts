import { expect, it } from "vitest";
import { drawnHeight, rowWindow, scrollTopFor, TALLEST } from "./rowWindow";

const small = { count: 100, height: 32, viewport: 320 };
const million = { count: 1_000_000, height: 32, viewport: 640 };

it("draws the rows in sight where they are", () => {
  const { first, end, top } = rowWindow(small, 960);
  expect(first).toBe(22);
  expect(end).toBe(48);
  expect(top).toBe(first * 32);
});

it("reaches the first and the last of a million rows in an element that browsers can draw", () => {
  expect(drawnHeight(million)).toBe(TALLEST);
  expect(rowWindow(million, 0).first).toBe(0);
  const bottom = TALLEST - million.viewport;
  const { end, first, top } = rowWindow(million, bottom);
  expect(end).toBe(1_000_000);
  expect(top + (end - first) * 32).toBeCloseTo(TALLEST, 3);
});

it("scrolls no further than it must", () => {
  expect(scrollTopFor(small, 5, 0)).toBe(0);
  expect(scrollTopFor(small, 20, 0)).toBe(21 * 32 - 320);
  const there = scrollTopFor(million, 999_999, 0);
  expect(there).toBeCloseTo(TALLEST - million.viewport, 3);
  expect(rowWindow(million, there).end).toBe(1_000_000);
});
