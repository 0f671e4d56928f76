import { expect, test } from "vitest";
import type { AnswerGraph } from "../api/types";
import { colourOf, drawnEdges, inWords } from "./paths";

const GRAPH: AnswerGraph = {
  nodes: [
    { id: "u", kind: "user", name: "Ada" },
    { id: "g", kind: "user_group", name: "eng" },
    { id: "a", kind: "application", name: "GitHub" },
  ],
  edges: [
    { source: "u", target: "g", label: "in", directed: true },
    { source: "u", target: "g", label: "owns", directed: true },
    { source: "g", target: "a", label: "", directed: false },
    { source: "g", target: "gone", label: "has", directed: true },
  ],
  truncated: false,
};

test("ways between the same two things share a line, and a line needs both ends", () => {
  expect(drawnEdges(GRAPH)).toEqual([
    { source: "u", target: "g", label: "in, owns", directed: true },
    { source: "g", target: "a", label: "", directed: false },
  ]);
});

test("kinds have colours in their order, and the seventh is quiet", () => {
  expect([...colourOf(GRAPH)]).toEqual([
    ["user", 1],
    ["user_group", 2],
    ["application", 3],
  ]);
  const nodes = [..."abcdefg"].map((kind) => ({ id: kind, kind, name: kind }));
  expect(colourOf({ ...GRAPH, nodes }).get("g")).toBe(0);
});

test("the picture is also told in words", () => {
  expect(inWords(GRAPH)).toEqual(["Ada (user) in, owns eng (user group)", "eng (user group) – GitHub (application)"]);
});
