import { expect, it } from "vitest";
import { tiedLines } from "./codeTies";

const CODE = `SELECT
  products.category,
  SUM(order_items.amount) AS "orders"
FROM order_items
JOIN orders
  ON order_items.order_id = orders.order_id
WHERE
  orders.order_date >= CAST('2024-01-01' AS DATE)
  AND orders.order_date < CAST('2025-01-01' AS DATE)
GROUP BY
  products.category
ORDER BY
  SUM(order_items.amount) DESC
LIMIT 5`;

it("finds the lines of the query for a phrase", () => {
  expect(tiedLines('revenue: SUM("amount")', CODE)).toEqual([2]);
  expect(tiedLines("for each products.category", CODE)).toEqual([10]);
  expect(tiedLines("products.category", CODE)).toEqual([1, 10]);
  expect(tiedLines("orders.order_date in 2024", CODE)).toEqual([7, 8]);
  expect(tiedLines("sorted by sum(order_items.amount), descending; only the first 5", CODE)).toEqual([12, 13]);
  expect(tiedLines("sorted by revenue, descending; the first 5", CODE)).toEqual([11, 12, 13]);
  expect(tiedLines("orders", CODE)).toEqual([4, 5]);
});

it("finds no lines for a word that was not used or is not in the query", () => {
  expect(tiedLines("not used", CODE)).toEqual([]);
  expect(tiedLines("stores.region", CODE)).toEqual([]);
  expect(tiedLines("a.b(c", "SELECT 1")).toEqual([]);
});
