import { expect, test } from "vitest";
import { comparedNodes } from "./comparedNodes";

test("a node that is gone stays in the picture, with what it came after", () => {
  const same = { id: "a", kind: "sql", after: [] };
  const gone = { id: "b", kind: "transform", after: ["a"] };
  const fresh = { id: "c", kind: "join", after: ["a"] };
  const difference = { added: ["c"], removed: ["b"], changed: ["a"] };
  const [nodes, marks] = comparedNodes([same, gone], [same, fresh], difference);
  expect(nodes).toEqual([same, fresh, gone]);
  expect(marks).toEqual({ a: "changed", b: "removed", c: "added" });
});
