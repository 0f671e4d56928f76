import { expect, it } from "vitest";
import type { Json } from "../api/types";
import { yamlOf } from "./yaml";

it("leaves out empty values", () => {
  const plan: Json = {
    entity: "orders",
    distinct: false,
    joins: [],
    select: [{ expr: { kind: "column", table: "orders" } }, { expr: { kind: "constant", value: "2025-01-01" } }],
    limit: 5,
  };
  expect(yamlOf(plan)).toBe(
    [
      "entity: orders",
      "select:",
      "  - expr:",
      "      kind: column",
      "      table: orders",
      "  - expr:",
      "      kind: constant",
      '      value: "2025-01-01"',
      "limit: 5",
    ].join("\n"),
  );
});

it("quotes text that looks like another type", () => {
  expect(yamlOf({ a: "- x: y", b: "5", c: 5, d: "North West" })).toBe('a: "- x: y"\nb: "5"\nc: 5\nd: North West');
});
