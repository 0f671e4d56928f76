// SQL with its parts in colour, made of text nodes and spans.

import { el } from "./dom.js";

const KEYWORDS = new Set(
  ("select from where group by order having limit offset join left right full inner outer cross on using as and or not in is null like " +
    "ilike between exists case when then else end union all intersect except distinct with asc desc nulls first last over partition filter " +
    "interval date timestamp true false cast values qualify window rows range lateral natural").split(" "));
const TOKEN = /(--[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^']|'')*')|("(?:[^"]|"")*")|(\b\d+(?:\.\d+)?\b)|(\b[A-Za-z_][A-Za-z0-9_]*\b)/g;

export function sql(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    parts.push(text.slice(end, match.index), colored(match, text));
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return el("pre", { class: "code" }, el("code", {}, parts));
}

function colored(match, text) {
  const [token, comment, string, name, number, word] = match;
  if (comment) return el("span", { class: "c" }, token);
  if (string) return el("span", { class: "s" }, token);
  if (number) return el("span", { class: "n" }, token);
  if (word && KEYWORDS.has(word.toLowerCase())) return el("span", { class: "k" }, token);
  if (word && text[match.index + token.length] === "(") return el("span", { class: "f" }, token);
  return name ?? token;
}
