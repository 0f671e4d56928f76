import { expect, it } from "vitest";
import type { Answer, RunTimeline } from "../api/types";
import type { StepKinds } from "../run/stepKinds";
import { branches, checkSteps } from "./checkSteps";

const KINDS = new Map(
  [
    { name: "understand", title: "Understand", produces: "graph" },
    { name: "subgraph", produces: "value", is_wrapper: true },
    { name: "sql", title: "Query", produces: "rows", rows_from: "source", language: "sql" },
    { name: "present", title: "Check and write", produces: "answer" },
  ].map((kind) => [kind.name, kind]),
) as unknown as StepKinds;

const answer = {
  row_count: 4,
  steps: [
    {
      id: "query",
      kind: "sql",
      source: "demo",
      code: "SELECT 1",
      rows_in: 28_601,
      row_count: 4,
      duration_ms: 24,
      status: "done",
      sandbox: null,
    },
  ],
  provenance: { plan: { entity: "orders" } },
} as unknown as Answer;

function timelineStep(id: string, kind: string, after: string[], start: number, end: number) {
  return {
    id,
    kind,
    parent: null,
    after,
    status: "done",
    start_ms: start,
    end_ms: end,
    source: kind === "sql" ? "demo" : null,
    code: null,
    row_count: null,
    message: null,
    attempts: [],
  };
}

const timeline = {
  total_ms: 220,
  steps: [
    timelineStep("understand", "understand", [], 5, 110),
    timelineStep("execute", "subgraph", ["understand"], 112, 220),
    timelineStep("execute/query", "sql", [], 113, 190),
    timelineStep("execute/answer", "present", ["execute/query"], 191, 215),
  ],
} as unknown as RunTimeline;

it("accounts for every step of the run, with the rows it read and gave", () => {
  const steps = checkSteps(answer, timeline, KINDS);
  expect(steps.map((step) => [step.name, step.rowsIn, step.rows, step.ms, step.code])).toEqual([
    ["Understand", null, null, 105, "entity: orders"],
    ["Query demo", 28_601, 4, 77, "SELECT 1"],
    ["Check and write", 4, 4, 24, null],
  ]);
  expect(branches(steps)).toBe(false);
});

it("shows the recorded steps until the timeline arrives", () => {
  expect(checkSteps(answer, null, KINDS).map((step) => [step.name, step.rowsIn, step.rows, step.ms])).toEqual([
    ["Query demo", 28_601, 4, 24],
  ]);
});

it("sees where a plan branches", () => {
  const step = (id: string, ...after: string[]) => ({ ...checkSteps(answer, null, KINDS)[0]!, id, after });
  expect(branches([step("a"), step("b", "a"), step("c", "b")])).toBe(false);
  expect(branches([step("a"), step("b"), step("c", "a", "b")])).toBe(true);
  expect(branches([step("a"), step("b", "a"), step("c", "a")])).toBe(true);
});
