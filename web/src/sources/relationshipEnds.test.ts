import { expect, it } from "vitest";
import { columnFor, linesOf } from "./relationshipEnds";

const table = (name: string, columns: string[], key: string[] = []) => ({
  name,
  primary_key: key,
  columns: columns.map((column) => ({ name: column })),
});

it("guesses the columns that two tables share", () => {
  expect(columnFor(table("flights", ["day", "carrier"]), table("airlines", ["carrier", "name"], ["carrier"]))).toEqual({
    from: "carrier",
    to: "carrier",
  });
  expect(columnFor(table("orders", ["id", "customer_id"]), table("customers", ["id", "name"], ["id"]))).toEqual({
    from: "id",
    to: "id",
  });
  expect(columnFor(table("orders", ["no", "customer_id"]), table("customers", ["id"], ["id"]))).toEqual({
    from: "customer_id",
    to: "id",
  });
  expect(columnFor(undefined, undefined)).toEqual({ from: "", to: "" });
});

it("draws one line for all relationships between two tables", () => {
  const known = (column: string, origin: string) => ({
    from_table: "flights",
    to_table: "airports",
    from_columns: [column],
    origin,
  });
  const lines = linesOf([known("origin", "inferred"), known("dest", "inferred"), known("hub", "declared")]);
  expect(lines.map((line) => line.from_columns.join(", "))).toEqual(["origin, dest", "hub"]);
});
