import { expect, test } from "vitest";
import { formOf, KINDS, textOf, valueIn } from "./kinds";

test("every kind has a form, and fields that all kinds have", () => {
  expect(new Set(KINDS.map(({ kind }) => kind)).size).toBe(17);
  for (const { kind } of KINDS) expect(formOf(kind).fields.map(({ name }) => name)).toContain("when");
});

test("a field of JSON takes values, and references without quotes", () => {
  const over = { name: "over", label: "List", json: true };
  expect(valueIn(over, "[1, 2]")).toEqual([1, 2]);
  expect(valueIn(over, "{{ orders.rows }}")).toBe("{{ orders.rows }}");
  expect(valueIn(over, " ")).toBeUndefined();
  expect(textOf(over, [1])).toBe("[1]");
});

test("a field of text stays text", () => {
  expect(valueIn({ name: "event", label: "Event" }, "17")).toBe("17");
});
