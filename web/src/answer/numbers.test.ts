import { expect, it } from "vitest";
import type { NumberLink } from "../api/types";
import { pieces } from "./numbers";

const link = (start: number, end: number): NumberLink => ({ start, end, kind: "cell", row: 0, column: 0, basis: "" });

it("splits the text at its linked numbers", () => {
  expect(pieces("a 12 b 7", [link(7, 8), link(2, 4)]).map((piece) => [piece.text, piece.link !== null])).toEqual([
    ["a ", false],
    ["12", true],
    [" b ", false],
    ["7", true],
  ]);
});

it("counts code points, and leaves out links that overlap or lie beyond the text", () => {
  expect(pieces("😀 12", [link(2, 4), link(3, 4), link(9, 12)]).map((piece) => piece.text)).toEqual(["😀 ", "12"]);
});
