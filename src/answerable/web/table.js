// Rows as a table. Heads and cells are text; null, empty text and 0 look like three things.

import { el } from "./dom.js";
import { formatSpec, formatValue, isRight } from "./format.js";

const LONG = 120;

export function table(answer, rows, { skeleton = 0 } = {}) {
  const spec = formatSpec(answer);
  const head = el("tr", {}, spec.map((column) => el("th", { scope: "col", class: isRight(column) ? "r" : null }, column.header, column.unit ? el("span", { class: "u" }, column.unit) : null)));
  const waiting = Array.from({ length: skeleton }, () => el("tr", {}, spec.map(() => el("td", {}, el("span", { class: "skel" })))));
  return el("table", { class: "data" }, el("thead", {}, head), el("tbody", {}, rows.map((row, at) => tableRow(row, at, spec)), waiting));
}

export function tableRow(row, at, spec) {
  return el("tr", {}, row.map((value, column) => cell(value, spec[column], `${at}:${column}`)));
}

function cell(value, column, at) {
  const text = formatValue(value, column.format);
  const props = { class: isRight(column) ? "r" : null, "data-at": at };
  if (text === null) return el("td", props, el("span", { class: "null" }, "null"));
  if (text === "") return el("td", props, el("span", { class: "null" }, '""'));
  if (text.length <= LONG) return el("td", props, text);
  return el("td", props, el("details", { class: "long" }, el("summary", {}, `${text.slice(0, LONG)}…`), text));
}
