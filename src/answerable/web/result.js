// The pane beside the conversation: the rows of an answer, and all that is needed to check it.

import { el, byId, status } from "./dom.js";
import { sql } from "./code.js";
import { formatDuration, formatSpec } from "./format.js";
import { isEnded } from "./run.js";
import { rowsAddress } from "./stream.js";
import { table, tableRow } from "./table.js";
import { receipt, rowsWord } from "./turn.js";

const FORMATS = [["csv", "CSV"], ["xlsx", "Excel"], ["parquet", "Parquet"], ["arrow", "Arrow"], ["ndjson", "NDJSON"]];
const SKELETON_ROWS = 8;

export class Result {
  constructor({ more }) {
    this.more = more;
    this.tabs = ["table", "check"];
    for (const name of this.tabs) byId(`tab-${name}`).addEventListener("click", () => this.select(name));
    byId("tab-table").parentElement.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
      this.select(this.tab === "table" ? "check" : "table");
      byId(`tab-${this.tab}`).focus();
    });
    this.select("table");
  }

  show(run) {
    this.run = run;
    byId("result").hidden = false;
    this.update();
  }

  clear() {
    this.run = null;
    byId("result").hidden = true;
  }

  select(name) {
    this.tab = name;
    for (const tab of this.tabs) {
      const chosen = tab === name;
      byId(`tab-${tab}`).setAttribute("aria-selected", String(chosen));
      byId(`tab-${tab}`).tabIndex = chosen ? 0 : -1;
      byId(`panel-${tab}`).hidden = !chosen;
    }
  }

  update() {
    const { run } = this;
    const answer = run.answer;
    byId("result-title").textContent = answer?.provenance.understood ?? run.sentence ?? run.question;
    byId("row-count").textContent = run.rowCount === null ? "" : rowsWord(run.rowCount).split(" ")[0];
    byId("downloads").replaceChildren(...(answer?.row_count ? downloads(run) : []));
    byId("panel-table").replaceChildren(...this.rows());
    byId("panel-check").replaceChildren(...(answer ? check(answer, run) : steps(run)));
    byId("receipt").replaceChildren(answer ? receipt(answer) : status("running", "Running"), el("span", { class: "mono dim" }, run.id ?? ""));
  }

  rows() {
    const { run } = this;
    if (!run.answer && !run.columns.length) return [];
    const answer = run.answer ?? { columns: run.columns, provenance: {} };
    if (run.answer && run.rowCount === 0) return [el("p", { class: "empty" }, run.answer.text)];
    const waiting = !run.rows.length && run.rowCount ? Math.min(SKELETON_ROWS, run.rowCount) : 0;
    this.table = table(answer, run.rows, { skeleton: waiting });
    this.foot = el("p", { class: "more" });
    this.updateFoot();
    return [this.table, this.foot];
  }

  // New rows are added below; what is there stays where it is.
  append(from) {
    const spec = formatSpec(this.run.answer);
    this.table.tBodies[0].append(...this.run.rows.slice(from).map((row, i) => tableRow(row, from + i, spec)));
    this.updateFoot();
  }

  updateFoot() {
    const { run } = this;
    const left = (run.rowCount ?? 0) - run.rows.length;
    const button = left > 0 && isEnded(run) && el("button", { class: "btn", type: "button", onclick: () => this.more(run) }, "Show more rows");
    this.foot.replaceChildren(...(left > 0 ? [`${rowsWord(run.rows.length)} of ${rowsWord(run.rowCount)} shown. `, button || ""] : []));
  }

  light(row, column) {
    this.select("table");
    for (const cell of byId("panel-table").querySelectorAll(".lit")) cell.classList.remove("lit");
    const cell = byId("panel-table").querySelector(`[data-at="${row}:${column}"]`);
    cell?.classList.add("lit");
    cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

function downloads(run) {
  const link = ([format, name]) => el("a", { href: rowsAddress(run.id, format), download: true }, name);
  return [el("span", { class: "dim" }, "Download"), ...FORMATS.map(link)];
}

function check(answer, run) {
  const told = answer.provenance;
  return [
    section("Understood", told.mind, understood(told)),
    section("Steps", null, answer.steps.length ? answer.steps.map(step) : el("p", { class: "mid" }, "None.")),
    told.findings.length ? section("Findings", null, el("ul", { class: "findings" }, told.findings.map((text) => el("li", {}, status("warn", ""), text)))) : null,
    told.plan ? section("Plan", null, el("details", {}, el("summary", {}, "The plan as data"), el("pre", { class: "code" }, JSON.stringify(told.plan, null, 2)))) : null,
    section("Data", null, facts([
      ["Sources", told.sources.join(", ") || "none"],
      ["Last written", told.last_sync ?? "not known"],
      ["Fingerprint", told.fingerprint ?? "none"],
      ["Rows kept as", told.artifact ?? "none"],
      ["Run", run.id],
    ])),
  ].filter(Boolean);
}

function understood(told) {
  const phrases = told.bindings.map(({ phrase, meaning }) => el("span", {}, el("span", { class: "b" }, phrase), el("small", {}, meaning)));
  const sure = told.confidence && el("p", { class: "confidence" }, el("b", {}, `${told.confidence[0].toUpperCase()}${told.confidence.slice(1)} confidence`), told.confidence_reason ? ` ${told.confidence_reason}` : "");
  return [el("p", { class: "sentence" }, told.understood ?? "The query ran as it was written."), phrases.length ? el("div", { class: "understood" }, phrases) : null, sure].filter(Boolean);
}

function step(record) {
  const kind = record.status === "done" ? "ok" : record.status === "failed" ? "error" : "skipped";
  const right = [record.row_count !== null && rowsWord(record.row_count), formatDuration(record.duration_ms)].filter(Boolean).join(" · ");
  const copy = (event) => {
    navigator.clipboard.writeText(record.code).then(() => { event.target.textContent = "Copied"; });
  };
  return el("div", { class: "check-step" },
    el("header", {}, status(kind, record.id), el("span", { class: "mid" }, record.source ?? ""), el("span", { class: "grow" }), el("span", { class: "dim num" }, right)),
    record.code ? el("div", { class: "code-box" }, el("div", { class: "code-head" }, el("span", { class: "dim" }, `${record.kind.toUpperCase()}, as it ran`), el("button", { class: "btn ghost small", type: "button", onclick: copy }, "Copy")), sql(record.code)) : null);
}

function steps(run) {
  const coded = [...run.steps.values()].filter((known) => known.code);
  return coded.map((known) => section(known.name, null, sql(known.code)));
}

function section(title, side, content) {
  return el("section", { class: "check-part" }, el("header", {}, el("h3", { class: "label" }, title), el("span", { class: "dim caption" }, side ?? "")), content);
}

function facts(pairs) {
  return el("dl", { class: "facts" }, pairs.map(([name, value]) => [el("dt", {}, name), el("dd", { class: "mono" }, value ?? "")]));
}
