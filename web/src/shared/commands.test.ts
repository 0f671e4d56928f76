import { expect, it } from "vitest";
import { type Command, marked, matching } from "./commands";

const command = (label: string): Command => ({ id: label, group: "", label, run: () => {} });

it("finds commands that contain all words, best matches first", () => {
  const found = matching([command("Switch between light and dark"), command("Go dark"), command("Dark side")], "dark");
  expect(found.map((known) => known.label)).toEqual(["Dark side", "Switch between light and dark", "Go dark"]);
});

it("marks matches, also of characters that are special in regular expressions", () => {
  expect(marked("a (b) c", "(b)")).toEqual([
    ["a ", false],
    ["(b)", true],
    [" c", false],
  ]);
});
