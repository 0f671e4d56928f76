import { expect, it } from "vitest";
import type { TimelineStep } from "../api/types";
import { barsOf, ticks } from "./waterfallBars";

it("draws attempts and the waits between them on one scale", () => {
  const step = {
    critical: true,
    attempts: [
      { number: 1, start_ms: 0, end_ms: 100, outcome: "failed", wait_ms: 300 },
      { number: 2, start_ms: 400, end_ms: 1_000, outcome: "done", wait_ms: null },
    ],
  } as unknown as TimelineStep;
  expect(barsOf(step, 1_000, 500)).toEqual([
    { kind: "failed", x: 0, width: 50 },
    { kind: "wait", x: 50, width: 150 },
    { kind: "critical", x: 200, width: 300 },
  ]);
});

it("marks the scale at round times, within it", () => {
  expect(ticks(6_840)).toEqual([0, 2_000, 4_000, 6_000]);
  for (const total of [1, 17, 480, 59_000]) {
    expect(ticks(total).at(-1)).toBeLessThanOrEqual(total);
    expect(ticks(total).length).toBeLessThanOrEqual(8);
  }
});
