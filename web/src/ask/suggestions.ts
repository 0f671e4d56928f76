import type { Catalog, Table } from "../api/types";

/** Questions that this data can answer, made from its own names: a count, a measure by a name, and one over time. */
export function suggestions(catalog: Catalog): string[] {
  const biggest = [...catalog.tables].sort((a, b) => (b.row_count ?? 0) - (a.row_count ?? 0));
  const named = biggest.find((table) => dateColumn(table)) ?? biggest[0];
  if (!named) return [];
  const measure = catalog.measures[0];
  const category = biggest.flatMap((table) => table.columns).find(isCategory);
  const over = dateColumn(named) ? `${label(named)} per month` : null;
  return [
    measure && category ? `${measure.label ?? measure.name} per ${words(category.label ?? category.name)}` : null,
    over && capital(over),
    `How many ${label(named)} are there?`,
  ].filter((question): question is string => Boolean(question)).map(capital);
}

function isCategory(column: Table["columns"][number]): boolean {
  const many = column.distinct_count ?? 0;
  return column.type === "text" && many >= 2 && many <= 30;
}

function dateColumn(table: Table) {
  return table.columns.find((column) => /date|time/.test(column.type));
}

function label(table: Table): string {
  return words(table.label ?? table.name);
}

function words(name: string): string {
  return name.replace(/_/g, " ");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
