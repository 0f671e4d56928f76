import { expect, it } from "vitest";
import { differing } from "./differing";

it("marks the words in which readings differ", () => {
  expect(differing(["The average dep delay per carrier.", "The average arr delay per carrier."])).toEqual([
    { before: "The average", phrase: "dep", after: "delay per carrier." },
    { before: "The average", phrase: "arr", after: "delay per carrier." },
  ]);
});

it("marks what one sentence says more", () => {
  const [short, long] = differing(["List the tracks.", "List the tracks with their album."]);
  expect(short).toEqual({ before: "List the", phrase: "tracks.", after: "" });
  expect(long?.phrase).toBe("tracks with their album.");
});

it("marks nothing in a single sentence, and nothing twice in equal ones", () => {
  expect(differing(["Count the orders."])).toEqual([{ before: "Count the orders.", phrase: "", after: "" }]);
  expect(differing(["a b", "a b"]).map(({ phrase }) => phrase)).toEqual(["", ""]);
});
