import type { Catalog, Table } from "../api/types";
import { count, plural } from "../shared/format";

const MOST = 5;

/** What a source holds, in one sentence: rows, period and columns of its only table, or its tables with their rows. */
export function describeData({ tables }: Pick<Catalog, "tables">): string {
  const [only] = tables;
  if (!only) return "It holds no tables.";
  if (tables.length === 1) return `${rowsOf(only)}${period(only)}, with ${listed(columns(only))}.`;
  const largest = [...tables].sort((a, b) => (b.row_count ?? 0) - (a.row_count ?? 0));
  const names = largest.map(({ name, row_count }) => (row_count === null ? name : `${name} (${count(row_count)})`));
  return `${plural(tables.length, "table")}: ${listed(names)}.`;
}

function rowsOf({ name, row_count }: Table): string {
  return row_count === null ? `The table ${name}` : plural(row_count, "row");
}

function period({ columns }: Table): string {
  const dated = columns.find(({ type, minimum }) => (type === "date" || type === "datetime") && minimum);
  return dated ? ` from ${day(dated.minimum)} to ${day(dated.maximum)}` : "";
}

function day(value: unknown): string {
  return String(value).slice(0, 10);
}

/** The names of the columns but for the one that the period is of. */
function columns(table: Table): string[] {
  const names = table.columns.map(({ name }) => name);
  const dated = table.columns.find(({ type, minimum }) => (type === "date" || type === "datetime") && minimum);
  const others = names.filter((name) => name !== dated?.name);
  return others.length > 0 ? others : names;
}

function listed(names: string[]): string {
  const shown = names.length > MOST ? [...names.slice(0, MOST), `${names.length - MOST} more`] : names;
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}` : (shown[0] ?? "");
}
