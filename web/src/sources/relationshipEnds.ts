import type { Table } from "../api/types";

type Named = Pick<Table, "name" | "primary_key"> & { columns: { name: string }[] };

/** Guesses the columns that join two tables: the key of the second, and the column in the first that is named after it. */
export function columnFor(from: Named | undefined, to: Named | undefined): { from: string; to: string } {
  const theirs = to?.columns.map((column) => column.name) ?? [];
  const ours = from?.columns.map((column) => column.name) ?? [];
  const shared =
    theirs.find((name) => ours.includes(name) && /(^|_)id$|key|code|num/i.test(name)) ??
    theirs.find((name) => ours.includes(name));
  const key = to?.primary_key[0] ?? shared ?? theirs[0] ?? "";
  const singular = to?.name.replace(/s$/, "") ?? "";
  const leading = [key, `${singular}_${key}`, `${singular}_id`, shared ?? ""].find((name) => ours.includes(name));
  return { from: leading ?? ours[0] ?? "", to: key };
}

interface Line {
  from_table: string;
  to_table: string;
  from_columns: string[];
  origin: string;
}

/** Merges relationships between the same two tables into one line of the diagram, with all their columns. */
export function linesOf<R extends Line>(relationships: R[]): Line[] {
  const lines = new Map<string, Line>();
  for (const { from_table, to_table, from_columns, origin } of relationships) {
    const key = [from_table, to_table, origin === "inferred"].join("\0");
    const known = lines.get(key)?.from_columns ?? [];
    lines.set(key, { from_table, to_table, origin, from_columns: [...known, ...from_columns] });
  }
  return [...lines.values()];
}
