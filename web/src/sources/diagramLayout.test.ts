import { expect, it } from "vitest";
import { BOX, layoutTables } from "./diagramLayout";

it("puts tables that point at others to their left, apart from each other", () => {
  const places = layoutTables(["orders", "customers", "alone"], [["orders", "customers"], ["orders", "orders"], ["orders", "elsewhere"]]);
  expect(places.size).toBe(3);
  expect(places.get("orders")!.x + BOX.width).toBeLessThan(places.get("customers")!.x);
});
