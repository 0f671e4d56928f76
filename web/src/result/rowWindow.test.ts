import { expect, it } from "vitest";
import { AT_TOP, drawnHeight, placeAt, reaching, rowWindow, scrolled, settled, TALLEST } from "./rowWindow";

const small = { count: 100, height: 32, viewport: 320 };
const million = { count: 1_000_000, height: 32, viewport: 640 };
const bottom = TALLEST - million.viewport;

it("draws the visible rows and some around them, always the same number", () => {
  expect(rowWindow(small, placeAt(small, 960))).toEqual({ first: 22, end: 49 });
  expect(rowWindow(small, AT_TOP)).toEqual({ first: 0, end: 27 });
  expect(rowWindow({ ...small, count: 5 }, AT_TOP)).toEqual({ first: 0, end: 5 });
});

it("reaches the first and the last of a million rows in an element that browsers can draw", () => {
  expect(drawnHeight(million)).toBe(TALLEST);
  expect(rowWindow(million, placeAt(million, 0)).first).toBe(0);
  expect(rowWindow(million, placeAt(million, bottom)).end).toBe(1_000_000);
});

it("skips no row in small steps although the scroll bar is scaled", () => {
  const middle = placeAt(million, TALLEST / 2);
  const after = scrolled(million, middle, middle.scrollTop + 100);
  expect(after.offset - middle.offset).toBe(100);
  const bar = settled(million, after);
  expect(bar.offset).toBe(after.offset);
  expect(placeAt(million, bar.scrollTop).offset).toBeCloseTo(after.offset, 3);
});

it("jumps to the rows in proportion", () => {
  expect(scrolled(million, AT_TOP, bottom).offset).toBe(32_000_000 - 640);
  expect(scrolled(small, AT_TOP, 40)).toEqual({ scrollTop: 40, offset: 40 });
});

it("scrolls no further than it must to show a row", () => {
  expect(reaching(small, 5, AT_TOP)).toBe(AT_TOP);
  expect(reaching(small, 20, AT_TOP).scrollTop).toBe(21 * 32 - 320);
  expect(reaching(small, 2, placeAt(small, 960)).scrollTop).toBe(64);
  const end = reaching(million, 999_999, AT_TOP);
  expect(end.scrollTop).toBeCloseTo(bottom, 3);
  expect(rowWindow(million, end).end).toBe(1_000_000);
});
