// What is known of a run, folded from its events. Pure: no page, no network.

const NAMES = {
  understand: () => "Understand the question",
  sql: (config) => (config?.source ? `Query ${config.source}` : "Query"),
  present: () => "Check the rows and write the answer",
};

export function newRun(question, body = {}) {
  return {
    question,
    body,
    id: null,
    thread: null,
    phase: "running", // running, done, partial, failed, cancelled
    connection: "live",
    steps: new Map(),
    sentence: null,
    columns: [],
    rowCount: null,
    rows: [],
    answer: null,
    error: null,
    began: null,
    ended: null,
  };
}

export function fold(run, event) {
  run.id ??= event.run;
  run.began ??= event.at;
  switch (event.type) {
    case "run.started":
      for (const node of event.graph?.nodes ?? []) addStep(run, node);
      break;
    case "run.resumed":
      halt(run, "idle");
      break;
    case "plan.ready":
      run.sentence = event.sentence ?? run.sentence;
      for (const node of event.plan?.nodes ?? []) addStep(run, node);
      break;
    case "step.started":
      change(run, event, { state: "running", attempt: event.attempt, note: null });
      break;
    case "step.progress":
      change(run, event, { note: event.message, done: event.done, total: event.total });
      break;
    case "step.output":
      if (event.channel === "code") change(run, event, { code: event.data });
      break;
    case "step.retried":
      change(run, event, { state: "warn", note: `${event.message} Tries again in ${Math.ceil(event.delay)} s.` });
      break;
    case "step.finished":
      change(run, event, { state: "ok", note: null, ms: event.duration_ms, rows: event.output?.frame?.row_count, code: event.output?.code });
      break;
    case "step.failed":
      change(run, event, { state: "error", note: event.message, ms: event.duration_ms });
      break;
    case "step.skipped":
      change(run, event, { state: "skipped", note: event.reason });
      break;
    case "approval.requested":
      change(run, event, { state: "waiting", note: event.prompt });
      break;
    case "approval.decided":
      change(run, event, { state: event.approved ? "running" : "skipped", note: event.note });
      break;
    case "answer.metadata":
      Object.assign(run, { columns: event.columns, rowCount: event.row_count });
      break;
    case "answer.batch":
      if (event.rows && event.offset === run.rows.length) run.rows.push(...event.rows);
      break;
    case "answer.final":
      finish(run, event.answer);
      break;
    case "run.finished":
      Object.assign(run, { phase: event.status === "partial" ? "partial" : "done", ended: event.at });
      break;
    case "run.failed":
      halt(run);
      Object.assign(run, { phase: "failed", ended: event.at, error: problem(event) });
      break;
    case "run.cancelled":
      halt(run);
      Object.assign(run, { phase: "cancelled", ended: event.at, error: { message: `Stopped: ${event.reason}.` } });
      break;
  }
  return run;
}

// An answer that was stored, when the page is opened again.
export function finish(run, answer) {
  run.answer = answer;
  run.columns = answer.columns;
  run.rowCount = answer.row_count;
  if (answer.rows.length) run.rows = [...answer.rows];
  if (answer.status === "failed" || answer.status === "cancelled") {
    const told = answer.provenance.error;
    Object.assign(run, { phase: answer.status, error: told ? problem(told) : { message: answer.text } });
  }
  return run;
}

// The steps to show: wrappers around other steps are left out.
export function shownSteps(run) {
  return [...run.steps.values()].filter((step) => step.kind !== "subgraph");
}

export function isEnded(run) {
  return run.phase !== "running";
}

function addStep(run, node) {
  if (run.steps.has(node.id)) return;
  const name = NAMES[node.kind]?.(node.config) ?? node.id.split("/").pop();
  run.steps.set(node.id, { id: node.id, kind: node.kind, name, source: node.config?.source ?? null, state: "idle" });
}

function change(run, event, changes) {
  if (!run.steps.has(event.node)) addStep(run, { id: event.node, kind: "step" });
  const step = run.steps.get(event.node);
  for (const [key, value] of Object.entries(changes)) if (value !== undefined) step[key] = value;
}

// Steps that were under way when the run ended are not running any more.
function halt(run, state = "skipped") {
  for (const step of run.steps.values()) if (step.state === "running" || step.state === "warn") step.state = state;
}

function problem({ message, hint, code, kind }) {
  return { message, hint, code, kind };
}
