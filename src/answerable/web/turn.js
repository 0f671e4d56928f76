// One question and what became of it, in the conversation.

import { el, icon, status } from "./dom.js";
import { formatAge, formatCount, formatDuration, formatSpec, formatValue } from "./format.js";
import { isEnded, shownSteps } from "./run.js";
import { table } from "./table.js";

const WORDS = { idle: "not started", running: "running", ok: "done", warn: "tries again", error: "failed", skipped: "skipped", waiting: "waits for you" };
const PEEK_ROWS = 4;

export class Turn {
  constructor(run, actions) {
    this.run = run;
    this.actions = actions;
    this.summary = el("summary", { class: "steps-sum" });
    this.list = el("ol", { class: "steps" });
    this.steps = el("details", { class: "steps-box", open: true }, this.summary, this.list);
    this.body = el("div", { class: "turn-body" });
    this.node = el("article", { class: "turn" }, el("h2", { class: "q" }, run.question), this.steps, this.body);
    this.folded = false;
    this.update();
  }

  update() {
    const { run } = this;
    const steps = shownSteps(run);
    this.steps.hidden = steps.length === 0;
    this.summary.replaceChildren(...this.heading(steps));
    this.list.replaceChildren(...steps.map(stepItem));
    if (isEnded(run) && !this.folded) {
      this.folded = true;
      this.steps.open = run.phase === "failed";
    }
    const state = `${run.phase} ${run.connection} ${run.sentence} ${Boolean(run.answer)} ${run.stopping}`;
    if (state !== this.state) {
      this.state = state;
      this.body.replaceChildren(...this.content().filter(Boolean));
    }
  }

  heading(steps) {
    const { run, actions } = this;
    if (isEnded(run)) {
      const spent = run.ended && run.began ? `, ${formatDuration((run.ended - run.began) * 1000)}` : "";
      return [icon("next", "i fold"), `${steps.length} ${steps.length === 1 ? "step" : "steps"}${spent}`];
    }
    const ended = steps.filter((step) => ["ok", "error", "skipped"].includes(step.state)).length;
    const stop = el("button", { class: "btn small", type: "button", disabled: run.stopping, onclick: (event) => { event.preventDefault(); actions.stop(run); } }, run.stopping ? "Stopping …" : "Stop");
    return [status("running", `Step ${Math.min(ended + 1, steps.length)} of ${steps.length}`), el("span", { class: "grow" }), run.id && stop];
  }

  content() {
    const { run } = this;
    const lost = run.connection === "lost" && !isEnded(run) && el("p", { class: "caption" }, status("warn", "Connection lost. The run goes on; trying again."));
    if (run.answer && !run.error) return [...this.answered(run.answer), lost];
    if (run.error) return [this.failure(run.error)];
    return [run.sentence && el("p", { class: "understood-line" }, run.sentence), lost];
  }

  answered(answer) {
    if (answer.kind === "clarify") return [this.clarify(answer)];
    if (answer.kind === "refusal") return [card("refused", "Refused", answer.text)];
    const { run, actions } = this;
    const value = answer.kind === "value" && formatValue(answer.rows[0]?.[0], formatSpec(answer)[0].format);
    const title = answer.provenance.understood ?? "Result";
    return [
      value && el("p", { class: "display num" }, value, el("span", { class: "unit" }, formatSpec(answer)[0].unit ?? "")),
      prose(answer, (row, column) => actions.cell(run, row, column)),
      answer.status === "partial" && el("p", { class: "caption" }, status("warn", "Partly answered: a step failed. See Check.")),
      answer.row_count > 0 && answer.kind !== "value" && el("div", { class: "peek" }, table(answer, run.rows.slice(0, PEEK_ROWS))),
      el("button", { class: "result-link", type: "button", onclick: () => actions.open(run) }, icon("table"), el("span", { class: "clip grow" }, title),
        el("span", { class: "dim num" }, rowsWord(answer.row_count)), icon("next")),
      receipt(answer),
    ];
  }

  clarify(answer) {
    const { run, actions } = this;
    const choose = (choice) => actions.choose(run, choice);
    const option = (choice, index) => el("li", {}, el("button", { type: "button", class: "choice", onclick: () => choose(choice) },
      el("kbd", {}, String(index + 1)), el("span", { class: "grow" }, choice.label), icon("next")));
    this.choices = answer.choices.map((choice) => () => choose(choice));
    return el("section", { class: "clarify", "aria-label": "A question back" },
      el("header", {}, icon("waiting", "i waiting-i"), el("p", {}, answer.text)),
      el("ol", {}, answer.choices.map(option)),
      answer.choices.length ? el("footer", {}, `Press 1 to ${answer.choices.length}, or ask in other words.`) : null);
  }

  // Folded to one line when a choice was made.
  chosen(choice) {
    this.choices = null;
    this.body.replaceChildren(el("p", { class: "chosen" }, status("ok", choice.label)));
  }

  failure({ message, hint, code, kind }) {
    const { run, actions } = this;
    const refused = kind === "RefusedError";
    const word = refused ? "Refused" : run.phase === "cancelled" ? "Stopped" : "No answer";
    const again = el("button", { class: "btn small", type: "button", onclick: () => actions.again(run) }, "Ask again");
    const small = [code, run.id].filter(Boolean).join(" · ");
    return card(refused ? "refused" : run.phase === "cancelled" ? "skipped" : "error", word, message, hint, refused ? null : again, small);
  }
}

export function receipt(answer) {
  const { provenance: told, usage, steps } = answer;
  const spent = usage.duration_ms || steps.reduce((sum, step) => sum + step.duration_ms, 0);
  const parts = [
    told.sources.join(", "),
    told.last_sync && `data ${formatAge(told.last_sync)}`,
    told.fingerprint && `fingerprint ${told.fingerprint.replace("sha256:", "").slice(0, 8)}`,
    steps.length > 0 && formatDuration(spent),
    usage.model_calls ? `${formatCount(usage.input_tokens + usage.output_tokens)} tokens` : "no model",
  ].filter(Boolean);
  return el("p", { class: "receipt" }, parts.map((part) => el("span", {}, part)));
}

export function rowsWord(count) {
  return `${formatCount(count)} ${count === 1 ? "row" : "rows"}`;
}

// Each number that was checked leads to its cell.
function prose(answer, open) {
  const parts = [];
  let end = 0;
  for (const link of answer.provenance.links ?? []) {
    const text = answer.text.slice(link.start, link.end);
    parts.push(answer.text.slice(end, link.start));
    const known = link.row !== null && link.column !== null;
    parts.push(known ? el("button", { class: "v", type: "button", title: link.basis, onclick: () => open(link.row, link.column) }, text) : el("span", { class: "v", title: link.basis }, text));
    end = link.end;
  }
  parts.push(answer.text.slice(end));
  return el("p", { class: "prose" }, parts);
}

function stepItem(step) {
  const right = [step.rows !== undefined && rowsWord(step.rows), step.ms !== undefined && formatDuration(step.ms)].filter(Boolean).join(" · ");
  const progress = step.total ? el("progress", { max: step.total, value: step.done ?? 0 }) : null;
  return el("li", { class: `step ${step.state}` },
    el("span", { class: `st ${step.state}` }, icon(step.state, step.state === "running" ? "i spin" : "i"), el("span", { class: "vh" }, `${WORDS[step.state]}: `)),
    el("span", { class: "grow" }, el("span", { class: "step-name" }, step.name), step.note ? el("span", { class: "step-note" }, step.note) : null, progress),
    el("span", { class: "dim num" }, right));
}

function card(kind, word, message, hint, action, small) {
  return el("section", { class: `card ${kind}` },
    el("header", {}, status(kind, word)),
    el("p", {}, message),
    hint ? el("p", { class: "mid" }, hint) : null,
    action || small ? el("footer", {}, action, el("span", { class: "mono dim" }, small ?? "")) : null);
}
