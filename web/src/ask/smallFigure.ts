import type { Json } from "../api/types";
import { count } from "../shared/format";

export type SmallFigure =
  | { kind: "value"; text: string }
  | { kind: "bars"; bars: { label: string; value: string; share: number }[]; more: number }
  | { kind: "series"; shares: number[]; range: string };

type Pair = readonly [label: string, value: number];

const BARS = 3;
const MOST_LETTERS = 24;
const DATE = /^\d{4}-\d{2}-\d{2}/;

/** What fits on a card: one value, the first bars, or columns over time. Null where a sentence says it better. */
export function figureOf(rows: Json[][], rowCount: number): SmallFigure | null {
  const only = rowCount === 1 && rows[0]?.length === 1 ? rows[0][0] : undefined;
  if (typeof only === "number") return { kind: "value", text: numberLike([only])(only) };
  if (typeof only === "string" && only.length <= MOST_LETTERS) return { kind: "value", text: only };
  const pairs = pairsOf(rows);
  if (pairs === null) return null;
  const values = pairs.map(([, value]) => value);
  const written = numberLike(values);
  const most = Math.max(...values);
  if (pairs.every(([label]) => DATE.test(label)) && values.every((value) => value >= 0))
    return {
      kind: "series",
      shares: values.map((value) => value / most),
      range: `${rowCount > pairs.length ? `the first ${pairs.length} of ${count(rowCount)}: ` : ""}${written(Math.min(...values))} to ${written(most)}`,
    };
  const largest = [...pairs].sort((a, b) => b[1] - a[1]).slice(0, BARS);
  const bars = largest.map(([label, value]) => ({ label, value: written(value), share: Math.max(0, value / most) }));
  return { kind: "bars", bars, more: rowCount - bars.length };
}

/** A name or date with a number for each row, or null if the rows are of another kind. */
function pairsOf(rows: Json[][]): Pair[] | null {
  const pairs = rows
    .filter((row) => row.length === 2 && !row.includes(null) && !row.includes(""))
    .map((row) => (typeof row[0] === "number" && typeof row[1] === "string" ? [row[1], row[0]] : row));
  const fit = pairs.every(([label, value]) => typeof label === "string" && typeof value === "number");
  const whole = rows.every((row) => row.length === 2);
  if (!fit || !whole || pairs.length < 2) return null;
  return pairs.some(([, value]) => (value as number) > 0) ? (pairs as unknown as Pair[]) : null;
}

/** Writes numbers with equally many decimals. */
function numberLike(values: number[]): (value: number) => string {
  const most = Math.max(...values.map(Math.abs));
  const digits = values.every(Number.isInteger) || most >= 1_000 ? 0 : most < 1 ? 2 : 1;
  const format = new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return (value) => format.format(value);
}
