import { expect, it } from "vitest";
import { differing } from "./differing";

const marked = (sentences: string[]) =>
  differing(sentences).map((parts) => parts.filter(({ differs }) => differs).map(({ text }) => text));

it("marks the words in which readings differ", () => {
  expect(differing(["The average dep delay per carrier.", "The average arr delay per carrier."])).toEqual([
    [
      { text: "The average", differs: false },
      { text: "dep", differs: true },
      { text: "delay per carrier.", differs: false },
    ],
    [
      { text: "The average", differs: false },
      { text: "arr", differs: true },
      { text: "delay per carrier.", differs: false },
    ],
  ]);
});

it("marks each place where readings differ, and not the words between", () => {
  expect(
    marked([
      "Give the temp max of the rows, for each month, only the one with the highest temp max.",
      "Give the temp min of the rows, for each month, only the one with the highest temp min.",
      "Give the temp max of the rows whose weather is 'fog', for each month, only the one with the highest temp max.",
    ]),
  ).toEqual([
    ["max", "max."],
    ["min", "min."],
    ["max", "whose weather is 'fog',", "max."],
  ]);
});

it("marks a word that stands alone between two differing phrases with them", () => {
  expect(marked(["Count the paid orders of May.", "Count the open orders of June."])).toEqual([
    ["paid", "May."],
    ["open", "June."],
  ]);
  expect(marked(["big red and round things", "big blue and square things"])).toEqual([
    ["red and round"],
    ["blue and square"],
  ]);
});

it("marks nothing in a single sentence, and nothing in equal ones", () => {
  expect(differing(["Count the orders."])).toEqual([[{ text: "Count the orders.", differs: false }]]);
  expect(marked(["a b", "a b"])).toEqual([[], []]);
});
