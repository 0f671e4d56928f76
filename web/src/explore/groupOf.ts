import type { Json, PlanChange, PlanParts } from "../api/types";

export type Group = Extract<PlanChange, { kind: "group" }>;

/** What the groups are made by, or null if there are none. */
export function groupOf(parts: PlanParts): Group | null {
  const chosen = parts.parts.find(({ kind }) => kind === "group")?.options.find((option) => option.chosen)?.change;
  return chosen?.kind === "group" && chosen.by ? chosen : null;
}

/** The filter that leaves the rows of one group. A group without a value cannot be filtered by. */
export function drillOf({ by, unit }: Group, value: Json): PlanChange | null {
  if (!by || value === null || typeof value === "object") return null;
  if (!unit) return { kind: "filter", of: by, op: "=", values: [String(value)], replaces: null };
  const start = String(value).slice(0, 10);
  return { kind: "period", of: by, start, end: endOf(start, unit) };
}

/** The first day after a period that begins on a day. */
export function endOf(start: string, unit: string): string {
  const day = new Date(`${start}T00:00:00Z`);
  if (unit === "day") day.setUTCDate(day.getUTCDate() + 1);
  else if (unit === "week") day.setUTCDate(day.getUTCDate() + 7);
  else day.setUTCMonth(day.getUTCMonth() + ({ month: 1, quarter: 3, year: 12 }[unit] ?? 1));
  return day.toISOString().slice(0, 10);
}
