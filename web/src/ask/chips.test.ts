import { expect, it } from "vitest";
import { chipsOf } from "./chips";

it("shows the first few sources and the chosen ones", () => {
  expect(chipsOf([..."abcdef"], ["a"])).toEqual([[..."abcdef"], []]);
  expect(chipsOf([..."abcdefgh"], ["h"])).toEqual([[..."abch"], [..."defg"]]);
});
