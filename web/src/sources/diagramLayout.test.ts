import { expect, it } from "vitest";
import { around, BOX, busiest, layoutTables } from "./diagramLayout";

it("puts tables that point at others to their left, apart from each other", () => {
  const places = layoutTables(
    ["orders", "customers", "alone"],
    [
      ["orders", "customers"],
      ["orders", "orders"],
      ["orders", "elsewhere"],
    ],
  );
  expect(places.size).toBe(3);
  expect(places.get("orders")!.x + BOX.width).toBeLessThan(places.get("customers")!.x);
});

it("draws what is near when all is too much", () => {
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
