import { describe, expect, it } from "vitest";
import type { PlanNode, RunEvent } from "../api/events";
import type { Answer } from "../api/types";
import { fold, isOver, isReading, NEW_RUN, recalled, reconnected, shownSteps } from "./run";
import type { StepKinds } from "./stepKinds";

const KINDS = new Map(
  [
    { name: "understand", title: "Understand", label: "question", produces: "graph" },
    { name: "subgraph", produces: "value", is_wrapper: true },
    { name: "sql", title: "Query", label: "SQL", produces: "rows", rows_from: "source", language: "sql" },
    { name: "present", title: "Check and write", label: "answer", produces: "answer" },
    { name: "forecast", title: "Forecast", label: "statistics", produces: "rows", rows_from: "steps" },
  ].map((kind) => [kind.name, kind]),
) as unknown as StepKinds;

type Told = RunEvent extends infer E ? (E extends RunEvent ? Omit<E, "run" | "seq" | "at"> : never) : never;

function played(...events: Told[]) {
  return events.reduce(
    (run, event, i) => fold(run, { run: "run_1", seq: i + 1, at: 100 + i, ...event } as RunEvent),
    NEW_RUN,
  );
}

const started: Told = {
  type: "run.started",
  taken: null,
  question: "?",
  graph: {
    nodes: [
      { id: "understand", kind: "understand" },
      { id: "execute", kind: "subgraph", after: ["understand"] },
    ],
  },
};
const planned: Told = {
  type: "plan.ready",
  sentence: "all orders",
  plan: {
    nodes: [
      { id: "execute/query", kind: "sql", config: { source: "demo" } },
      { id: "execute/answer", kind: "present", after: ["execute/query"] },
    ],
  },
};
const answer = {
  run_id: "run_1",
  status: "done",
  kind: "table",
  text: "2 rows.",
  columns: [{ name: "n", type: "integer" }],
  rows: [[1], [2]],
  row_count: 2,
  steps: [{ id: "query", kind: "sql", source: "demo", code: "SELECT 1", row_count: 2, duration_ms: 3, status: "done" }],
  choices: [],
  provenance: { links: [], error: null },
} as unknown as Answer;

describe("a run folded from its events", () => {
  it("shows the steps of the plan after the step that understood the question, without the wrapper", () => {
    const steps = shownSteps(played(started, planned).steps, KINDS);
    expect(steps.map((step) => [step.id, step.after])).toEqual([
      ["understand", []],
      ["execute/query", ["understand"]],
      ["execute/answer", ["execute/query"]],
    ]);
    expect(steps[1]?.name).toBe("Query demo");
  });

  it("names a step after its plan, its kind or its id, in this order", () => {
    const nodes: PlanNode[] = [
      { id: "a", kind: "forecast", config: { title: "Next year" } },
      { id: "b", kind: "forecast", config: { source: "demo" } },
      { id: "late_payers", kind: "unheard_of" },
    ];
    const steps = shownSteps(played({ type: "plan.ready", sentence: null, plan: { nodes } }).steps, KINDS);
    expect(steps.map((step) => [step.name, step.label])).toEqual([
      ["Next year", "statistics"],
      ["Forecast", "statistics"],
      ["Late payers", "unheard_of"],
    ]);
  });

  it("names steps in the reason why another was skipped", () => {
    const run = played(started, planned, {
      type: "step.skipped",
      node: "execute/answer",
      reason: "`execute/query` failed.",
    });
    expect(shownSteps(run.steps, KINDS)[2]?.note).toBe("Query demo failed.");
  });

  it("shows progress, attempts and outcomes of steps", () => {
    const retried = played(
      started,
      planned,
      { type: "step.started", node: "execute/query", attempt: 1 },
      { type: "step.retried", node: "execute/query", attempt: 1, delay: 2.2, code: "busy", message: "Busy." },
    );
    expect(retried.steps.find((step) => step.id === "execute/query")).toMatchObject({
      state: "retrying",
      note: "Busy. Tries again in 3 s.",
    });
    const done = fold(retried, {
      run: "run_1",
      seq: 9,
      at: 9,
      type: "step.finished",
      node: "execute/query",
      output: { frame: { row_count: 7 }, code: "SELECT 7" },
      attempt: 2,
      duration_ms: 5,
      partial: false,
    });
    expect(done.steps.find((step) => step.id === "execute/query")).toMatchObject({
      state: "ok",
      rows: 7,
      code: "SELECT 7",
      ms: 5,
    });
  });

  it("takes rows in order and never twice", () => {
    const run = played(
      started,
      { type: "answer.metadata", kind: "table", columns: answer.columns, row_count: 3, chart: null },
      { type: "answer.batch", offset: 0, count: 2, rows: [[1], [2]] },
      { type: "answer.batch", offset: 0, count: 2, rows: [[1], [2]] },
    );
    expect(run.rows).toEqual([[1], [2]]);
    expect(isOver(run)).toBe(false);
  });

  it("reads from the first step that asks a source until there is an answer", () => {
    const planning = played(started, planned);
    const asking = played(started, planned, { type: "step.started", node: "execute/query", attempt: 1 });
    const done = played(
      started,
      planned,
      { type: "step.started", node: "execute/query", attempt: 1 },
      { type: "answer.final", answer },
    );
    expect([planning, asking, done].map(isReading)).toEqual([false, true, false]);
  });

  it("leaves no step running when the run failed", () => {
    const run = played(
      started,
      { type: "step.started", node: "understand", attempt: 1 },
      { type: "run.failed", kind: "x", code: "broken", message: "No.", hint: null, node: null },
    );
    expect(run.steps[0]?.state).toBe("skipped");
    expect(run.error?.message).toBe("No.");
    expect(isOver(run)).toBe(true);
  });

  it("is the same from a stored answer", () => {
    const run = recalled(answer, 41);
    expect(run).toMatchObject({ id: "run_1", phase: "done", rowCount: 2, rows: [[1], [2]] });
    expect(shownSteps(run.steps, KINDS).map((step) => [step.name, step.after])).toEqual([
      ["Understand", []],
      ["Query demo", ["graph"]],
      ["Check and write", ["query"]],
    ]);
    expect(shownSteps(run.steps, KINDS)[1]).toMatchObject({ state: "ok", code: "SELECT 1" });
  });

  it("keeps what the steps of a failed run found", () => {
    const found = { ...answer.steps[0], id: "found", row_count: 3, sample: [{ region: "East" }] };
    const wrong = { ...answer.steps[0], id: "wrong", status: "failed", row_count: null };
    const run = recalled({ ...answer, status: "failed", columns: [], rows: [], steps: [found, wrong] } as Answer, 41);
    expect(run.phase).toBe("failed");
    expect(shownSteps(run.steps, KINDS).map((step) => [step.id, step.state])).toEqual([
      ["graph", "ok"],
      ["found", "ok"],
      ["wrong", "error"],
      ["answer", "skipped"],
    ]);
    expect(shownSteps(run.steps, KINDS)[1]).toMatchObject({ code: "SELECT 1", rows: 3, sample: [{ region: "East" }] });
  });
});

describe("text that a model writes", () => {
  const token = (seq: number, text: string, pieces?: number) =>
    ({
      type: "step.output",
      run: "run_1",
      seq,
      at: 1,
      node: "n",
      channel: "token",
      data: { text, pieces },
    }) as RunEvent;

  it("is counted piece by piece, and once when it is stored", () => {
    const live = [token(0, "a"), token(0, "b"), token(2, "", 0), token(3, "cd", 2)].reduce(fold, NEW_RUN);
    expect(live.tokens).toBe(4);
    expect(live.lastEvent?.seq).toBe(3);
  });

  it("is not counted twice after a reconnect", () => {
    const before = [token(1, "a", 1), token(0, "b"), token(0, "c")].reduce(fold, NEW_RUN);
    expect(before.lastEvent?.seq).toBe(1);
    expect([token(2, "bcd", 3)].reduce(fold, reconnected(before)).tokens).toBe(4);
  });
});
