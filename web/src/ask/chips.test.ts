import { expect, it } from "vitest";
import { chipsOf } from "./chips";

it("shows few sources, and those that are asked", () => {
  expect(chipsOf(["a", "b"], ["a"])).toEqual([["a", "b"], []]);
  expect(chipsOf([..."abcdefgh"], ["h"])).toEqual([[..."abcdeh"], ["f", "g"]]);
});
