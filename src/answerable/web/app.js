// The page as a whole: a conversation on the left, the result of one of its questions on the right.

import { byId, el } from "./dom.js";
import { Result } from "./result.js";
import { finish, fold, isEnded, newRun, shownSteps } from "./run.js";
import { ask, cancel, follow, getJson, Problem } from "./stream.js";
import { Turn } from "./turn.js";

const PAGE = 200;
const turns = [];
let thread = null;
let watched = null;

const result = new Result({ more });
const actions = { stop, choose, again: (run) => start(run.question, { choice: run.body.choice }), open, cell };

byId("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  const question = byId("question").value.trim();
  if (!question) return;
  byId("question").value = "";
  grow();
  start(question);
});
byId("question").addEventListener("input", grow);
byId("question").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  byId("composer").requestSubmit();
});
byId("new").addEventListener("click", startOver);
byId("back").addEventListener("click", () => { delete byId("ask").dataset.open; });
byId("theme").addEventListener("click", switchTheme);
document.addEventListener("keydown", shortcut);
window.addEventListener("hashchange", () => { if (location.hash.slice(1) !== (thread ?? "")) location.reload(); });
offerSources();
restore();

// Asking

async function start(question, { choice = null } = {}) {
  const body = { message: question, thread_id: thread, source: byId("source").value || null, choice };
  const turn = addTurn(newRun(question, body));
  const { run } = turn;
  try {
    await ask(body, {
      onStart: ({ run: id, thread: named }) => {
        run.id = id;
        remember(named);
        refresh(turn);
      },
      onEvent: (event) => hear(turn, event),
      onState: (state) => { run.connection = state; refresh(turn); },
    });
  } catch (error) {
    broken(turn, error);
  }
  await fill(turn);
}

function hear(turn, event) {
  const before = new Map(shownSteps(turn.run).map((step) => [step.id, step.state]));
  fold(turn.run, event);
  for (const step of shownSteps(turn.run)) {
    if (before.get(step.id) !== step.state && ["running", "error"].includes(step.state)) say(`${step.name}: ${step.state === "error" ? "failed" : "started"}`);
  }
  if (event.type === "answer.final") say(event.answer.text);
  refresh(turn);
}

function broken(turn, error) {
  if (!(error instanceof Problem)) throw error;
  Object.assign(turn.run, { phase: "failed", error: { message: error.message, hint: error.hint, code: error.code } });
  say(error.message);
  refresh(turn);
}

async function choose(run, choice) {
  turns.find((turn) => turn.run === run).chosen(choice);
  await start(run.question, { choice: choice.id });
}

async function stop(run) {
  run.stopping = true;
  refresh(turns.find((turn) => turn.run === run));
  try {
    await cancel(run.id);
  } catch (error) {
    say(error.message);
  }
}

// Rows that did not ride along with the answer are fetched in pages.

async function fill(turn) {
  const { run } = turn;
  if (run.answer && !run.rows.length && run.rowCount) await more(run);
  refresh(turn);
}

async function more(run) {
  const from = run.rows.length;
  const page = await getJson(`/runs/${encodeURIComponent(run.id)}/rows?offset=${from}&limit=${PAGE}`);
  run.rows.push(...page.rows);
  if (result.run !== run) return;
  if (from) result.append(from);
  else result.update();
}

// Showing

let scheduled = false;

function refresh(turn) {
  turn.dirty = true;
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    const atEnd = isAtEnd();
    for (const each of turns.filter((known) => known.dirty)) {
      each.dirty = false;
      each.update();
      if (result.run === each.run) result.update();
      else if (each.run.columns.length && each.run === watched) result.show(each.run);
    }
    if (atEnd) byId("scroll").scrollTop = byId("scroll").scrollHeight;
  });
}

function addTurn(run) {
  byId("welcome").hidden = true;
  const turn = new Turn(run, actions);
  turns.push(turn);
  byId("turns").append(turn.node);
  watched = run;
  byId("scroll").scrollTop = byId("scroll").scrollHeight;
  refresh(turn);
  return turn;
}

function open(run) {
  watched = run;
  result.show(run);
  byId("ask").dataset.open = "result";
  if (matchMedia("(max-width: 1000px)").matches) byId("back").focus();
}

function cell(run, row, column) {
  open(run);
  result.light(row, column);
}

function isAtEnd() {
  const { scrollTop, scrollHeight, clientHeight } = byId("scroll");
  return scrollHeight - scrollTop - clientHeight < 80;
}

function say(text) {
  byId("live").textContent = text;
}

function grow() {
  const field = byId("question");
  field.rows = Math.min(8, field.value.split("\n").length);
}

// Remembering: the address names the thread, so that a reload shows the same page.

function remember(named) {
  if (!named || named === thread) return;
  thread = named;
  history.replaceState(null, "", `#${named}`);
}

function startOver() {
  thread = null;
  watched = null;
  turns.length = 0;
  byId("turns").replaceChildren();
  result.clear();
  byId("welcome").hidden = false;
  history.replaceState(null, "", location.pathname);
  byId("question").focus();
}

async function restore() {
  const named = location.hash.slice(1);
  if (!/^thr_[0-9a-z]{24}$/.test(named)) return;
  try {
    const { messages } = await getJson(`/threads/${named}/messages`);
    thread = named;
    for (const message of messages.filter((known) => known.role === "user" && known.run_id)) await recall(message);
  } catch (error) {
    say(error.message);
  }
}

async function recall(message) {
  const turn = addTurn(newRun(message.content));
  const { run } = turn;
  run.id = message.run_id;
  try {
    const { answer } = await getJson(`/runs/${encodeURIComponent(run.id)}`);
    if (answer) {
      finish(run, answer);
      run.phase = run.error ? run.phase : "done";
    } else {
      await follow(run.id, { onEvent: (event) => hear(turn, event), onState: (state) => { run.connection = state; refresh(turn); } });
    }
  } catch (error) {
    broken(turn, error);
  }
  await fill(turn);
}

// What can be asked

async function offerSources() {
  try {
    const { datasets } = await getJson("/datasets");
    const select = byId("source");
    select.replaceChildren(...datasets.map(({ id }) => el("option", { value: id }, id)));
    select.value = datasets.find((known) => known.default)?.id ?? datasets[0]?.id ?? "";
    select.hidden = datasets.length === 0;
    select.addEventListener("change", offerTables);
    await offerTables();
  } catch (error) {
    say(error.message);
  }
}

async function offerTables() {
  const source = byId("source").value;
  if (!source) return;
  const catalog = await getJson(`/datasets/${encodeURIComponent(source)}/schema`);
  const chip = (table) => {
    const name = table.label ?? table.name;
    return el("button", { class: "chip", type: "button", onclick: () => start(`How many ${name} are there?`) }, name, el("span", { class: "dim num" }, table.row_count === null ? "" : ` ${table.row_count.toLocaleString("en-US")}`));
  };
  byId("tables").replaceChildren(...catalog.tables.slice(0, 24).map(chip));
}

// Keys and theme

function shortcut(event) {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "Escape") {
    delete byId("ask").dataset.open;
    document.activeElement?.blur();
    return;
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const last = turns.at(-1);
  const choice = last?.choices?.[Number(event.key) - 1];
  if (event.key === "/") byId("question").focus();
  else if (event.key === "n") startOver();
  else if (event.key === "t" && result.run) result.select("table");
  else if (event.key === "v" && result.run) result.select("check");
  else if (choice && isEnded(last.run)) choice();
  else return;
  event.preventDefault();
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("theme", root.dataset.theme);
  } catch {
    // Storage is forbidden: the choice lasts as long as the page.
  }
}
