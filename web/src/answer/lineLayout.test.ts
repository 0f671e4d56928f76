import { describe, expect, it } from "vitest";
import { type LinePoint, lineLayout, niceTicks, positionOf } from "./lineLayout";

function points(values: (number | null)[]): LinePoint[] {
  return values.map((value, i) => ({ label: `2025-${String(i + 1).padStart(2, "0")}`, value, text: String(value) }));
}

const POSITIONS = [0, 1, 2, 3];

describe("a line over time", () => {
  it("begins at zero and holds every value", () => {
    expect(niceTicks(0, 52.6)).toEqual([0, 20, 40, 60]);
    expect(niceTicks(-3, 7)).toEqual([-5, -2.5, 0, 2.5, 5, 7.5]);
    expect(niceTicks(0, 0).length).toBeGreaterThan(1);
  });

  it("leaves a gap where a value is missing", () => {
    const { paths } = lineLayout([{ name: "a", points: points([1, null, 3, 4]) }], POSITIONS, 600);
    expect(paths[0]?.match(/M/g)).toHaveLength(2);
  });

  it("says the highest, the lowest and the last", () => {
    const { marks } = lineLayout([{ name: "a", points: points([5, 9, 1, 6]) }], POSITIONS, 600);
    expect(marks.map((mark) => mark.text)).toEqual(["2025-02, 9", "2025-03, 1", "6"]);
  });

  it("names several lines at their ends, without overprinting", () => {
    const lines = ["a", "b"].map((name) => ({ name, points: points([1, 2, 3, 4]) }));
    const { marks } = lineLayout(lines, POSITIONS, 600);
    expect(marks.map((mark) => mark.text)).toEqual(["a", "b"]);
    expect(Math.abs(marks[0]!.textY - marks[1]!.textY)).toBeGreaterThanOrEqual(14);
  });

  it("places times by their distance", () => {
    expect(positionOf("2025-01-01", "date")).toBeLessThan(positionOf("2025-02-01", "date") ?? 0);
    expect(positionOf("north", "text")).toBeNull();
  });
});
