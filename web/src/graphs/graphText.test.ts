import { expect, test } from "vitest";
import { connected, disconnected, nameIn, nodesIn, withField, withNode, withoutNode } from "./graphText";

const TEXT = `# Weekly
name: regions
nodes:
  # per region
  totals:
    kind: sql
    source: sales
    sql: select 1
  text: {kind: transform, template: "{{ totals.rows }}"}
`;

test("nodes are found with their fields and lines", () => {
  expect(nameIn(TEXT)).toBe("regions");
  expect(nodesIn(TEXT).map(({ id, kind, lines }) => [id, kind, lines])).toEqual([
    ["totals", "sql", [5, 8]],
    ["text", "transform", [9, 9]],
  ]);
  expect(nodesIn("nodes: [1")).toEqual([]);
});

test("an edit keeps comments and the other nodes", () => {
  const text = withField(TEXT, "totals", "sql", "select 2");
  expect(text).toBe(TEXT.replace("select 1", "select 2"));
  expect(withField(text, "totals", "sql", undefined)).not.toContain("select");
});

test("nodes are added, connected, disconnected and removed", () => {
  const [text, id] = withNode(TEXT, "transform", { template: "x" });
  expect(id).toBe("transform");
  expect(withNode(text, "transform", {})[1]).toBe("transform_2");
  const joined = connected(text, "text", id);
  expect(nodesIn(joined).at(-1)?.fields.after).toEqual(["text"]);
  expect(connected(joined, "text", id)).toBe(joined);
  expect(nodesIn(disconnected(joined, "text", id)).at(-1)?.fields.after).toBeUndefined();
  expect(nodesIn(withoutNode(joined, "text")).map((node) => [node.id, node.fields.after])).toEqual([
    ["totals", undefined],
    [id, undefined],
  ]);
});
