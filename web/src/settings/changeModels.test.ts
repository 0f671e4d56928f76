import { expect, it } from "vitest";
import { moved } from "./changeModels";

it("moves a model by one place and never out of the list", () => {
  expect(moved(["a", "b", "c"], "b", -1)).toEqual(["b", "a", "c"]);
  expect(moved(["a", "b", "c"], "b", 1)).toEqual(["a", "c", "b"]);
  expect(moved(["a", "b"], "a", -1)).toEqual(["a", "b"]);
  expect(moved(["a", "b"], "other", 1)).toEqual(["a", "b"]);
});
