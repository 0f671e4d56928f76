import { expect, it } from "vitest";
import { layoutPlan } from "./planLayout";

it("places a step to the right of its predecessors, and parallel steps above each other", () => {
  const { boxes, edges } = layoutPlan([
    { id: "a", after: [] },
    { id: "b", after: [] },
    { id: "join", after: ["a", "b"] },
  ]);
  const at = Object.fromEntries(boxes.map((box) => [box.id, box]));
  expect(at.a!.x).toBe(at.b!.x);
  expect(at.b!.y).toBeGreaterThan(at.a!.y + at.a!.height);
  expect(at.join!.x).toBeGreaterThan(at.a!.x + at.a!.width);
  expect(edges.map((edge) => edge.from)).toEqual(["a", "b"]);
});

it("handles cycles and unknown ids", () => {
  const { boxes } = layoutPlan([
    { id: "a", after: ["b", "gone"] },
    { id: "b", after: ["a"] },
  ]);
  expect(boxes).toHaveLength(2);
});
