import type { Json } from "../api/types";
import { count } from "../shared/format";

export type SmallFigure =
  | { kind: "value"; text: string }
  | { kind: "bars"; bars: { label: string; value: string; share: number }[]; more: number }
  | { kind: "series"; shares: number[]; range: string };

const BARS = 3;
const DATE = /^\d{4}-\d{2}-\d{2}/;

/** What fits on a card: a number, the first bars, or columns over time. Null where a sentence says it better. */
export function figureOf(rows: Json[][], rowCount: number): SmallFigure | null {
  const only = rowCount === 1 && rows[0]?.length === 1 ? rows[0][0] : undefined;
  if (typeof only === "number") return { kind: "value", text: number(only) };
  const pairs = rows.map((row) => [row[0], row.at(-1)] as const);
  if (pairs.length < 2 || pairs.some(([, value]) => typeof value !== "number")) return null;
  const values = pairs.map(([, value]) => value as number);
  const most = Math.max(...values);
  if (most <= 0 || rows.some((row) => row.length !== 2)) return null;
  if (pairs.every(([label]) => typeof label === "string" && DATE.test(label)) && values.every((value) => value >= 0))
    return {
      kind: "series",
      shares: values.map((value) => value / most),
      range: `${number(Math.min(...values))} to ${number(most)}`,
    };
  const named = pairs.filter(([label]) => typeof label === "string" && label !== "");
  const largest = [...named].sort((a, b) => (b[1] as number) - (a[1] as number)).slice(0, BARS);
  if (largest.length < 2) return null;
  const top = largest[0]![1] as number;
  const bars = largest.map(([label, value]) => ({
    label: label as string,
    value: number(value as number),
    share: Math.max(0, (value as number) / top),
  }));
  return { kind: "bars", bars, more: rowCount - bars.length };
}

function number(value: number): string {
  return Number.isInteger(value)
    ? count(value)
    : new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 }).format(value);
}
