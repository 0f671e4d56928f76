import { expect, it } from "vitest";
import { phrases } from "./phrases";

it("ties each phrase of the question to what it became", () => {
  const found = phrases("Revenue per country in 2025", [
    { phrase: "country", meaning: "customers.country" },
    { phrase: "revenue", meaning: "sum(amount)" },
    { phrase: "cancelled", meaning: "left out" },
  ]);
  expect(found.map((piece) => [piece.text, piece.meaning])).toEqual([
    ["Revenue", "sum(amount)"],
    ["per", null],
    ["country", "customers.country"],
    ["in 2025", null],
    ["cancelled", "left out"],
  ]);
});
