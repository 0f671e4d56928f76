import { expect, it } from "vitest";
import { phrases } from "./phrases";

it("ties each phrase of the question to its meaning", () => {
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

it("matches short words only as whole words, in the order of the question", () => {
  const found = phrases("directors for Rome or for Oslo, or all", [
    { phrase: "Rome", meaning: "city = Rome" },
    { phrase: "or", meaning: "either" },
    { phrase: "Oslo", meaning: "city = Oslo" },
    { phrase: "(implied)", meaning: "name" },
  ]);
  expect(found.map((piece) => piece.text)).toEqual([
    "directors for",
    "Rome",
    "or",
    "for",
    "Oslo,",
    "or all",
    "(implied)",
  ]);
  expect(found[2]!.meaning).toBe("either");
});
