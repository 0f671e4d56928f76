import { expect, it } from "vitest";
import { blocksWanted } from "./rowBlocks";

it("fetches the visible blocks, then the next one", () => {
  expect(blocksWanted({ from: 480, to: 520 }, 480, 10_000)).toEqual([0, 1]);
  expect(blocksWanted({ from: 520, to: 560 }, 516, 10_000)).toEqual([1, 2]);
  expect(blocksWanted({ from: 1_520, to: 1_560 }, 1_530, 10_000)).toEqual([3, 2]);
});

it("fetches no block beyond the ends, and no next block after a jump", () => {
  expect(blocksWanted({ from: 9_900, to: 10_000 }, 9_890, 10_000)).toEqual([19]);
  expect(blocksWanted({ from: 10, to: 50 }, 20, 10_000)).toEqual([0]);
  expect(blocksWanted({ from: 5_010, to: 5_050 }, 0, 10_000)).toEqual([10]);
});
