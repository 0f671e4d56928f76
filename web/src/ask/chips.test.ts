import { expect, it } from "vitest";
import { chipsOf } from "./chips";

it("shows few sources, and those that are asked", () => {
  expect(chipsOf([..."abcdef"], ["a"])).toEqual([[..."abcdef"], []]);
  expect(chipsOf([..."abcdefgh"], ["h"])).toEqual([[..."abch"], [..."defg"]]);
});
