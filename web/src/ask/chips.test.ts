import { expect, it } from "vitest";
import { chipsOf } from "./chips";

it("shows the first few sources and the chosen ones", () => {
  expect(chipsOf([..."abc"], ["a"])).toEqual([[..."abc"], []]);
  expect(chipsOf([..."abcdefgh"], ["h"])).toEqual([[..."abh"], [..."cdefg"]]);
});
