import { expect, it } from "vitest";
import { type Command, marked, matching } from "./commands";

const command = (label: string): Command => ({ id: label, group: "", label, run: () => {} });

it("finds commands by all words, those that begin with them first", () => {
  const found = matching([command("Light or dark"), command("Go dark"), command("Dark side")], "dark");
  expect(found.map((known) => known.label)).toEqual(["Dark side", "Light or dark", "Go dark"]);
});

it("marks what matches, also of characters that mean something to patterns", () => {
  expect(marked("a (b) c", "(b)")).toEqual([
    ["a ", false],
    ["(b)", true],
    [" c", false],
  ]);
});
