import { expect, it } from "vitest";
import { around, BOX, busiest, layoutTables } from "./diagramLayout";

it("places tables above those they refer to, without overlap", () => {
  const places = layoutTables(
    ["orders", "customers", "alone"],
    [
      ["orders", "customers"],
      ["orders", "orders"],
      ["orders", "elsewhere"],
    ],
  );
  expect(places.size).toBe(3);
  expect(places.get("orders")!.y + BOX.height).toBeLessThan(places.get("customers")!.y);
});

it("draws only the nearest tables if there are too many", () => {
  const pairs = [
    ["a", "b"],
    ["b", "c"],
    ["d", "b"],
    ["d", "e"],
    ["x", "y"],
  ] as const;
  expect(around("a", pairs)).toEqual(["a", "b", "c", "d"]);
  expect(around("a", pairs, 3)).toEqual(["a", "b", "c"]);
  expect(busiest(["a", "b", "x"], pairs)).toBe("b");
});
