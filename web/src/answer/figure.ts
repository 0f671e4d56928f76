import type { Answer, Json } from "../api/types";

/** Decides how an answer shows its rows inside the conversation. Pure. The server says whether a chart fits the rows. */

export interface LineFigure {
  kind: "line";
  label: number;
  /** One line for each measure, or one line for each value of `series`. */
  measures: number[];
  series: number | null;
}

export interface RankingFigure {
  kind: "ranking";
  label: number;
  measure: number;
  /** Columns that stand beside the bars as plain values. */
  others: number[];
  /** Whether the question left the order open, so that the highest comes first. */
  sorted: boolean;
}

export type Figure = LineFigure | RankingFigure | { kind: "drawn" } | { kind: "rows" };

/** A row with at most this many columns is told by the sentence alone. */
const TOLD_COLUMNS = 2;

export function figureOf(answer: Answer): Figure | null {
  const { columns, row_count: count } = answer;
  if (!columns.length || count === 0 || answer.kind === "value") return null;
  if (count === 1 && columns.length <= TOLD_COLUMNS) return null;
  const chart = answer.provenance.chart;
  if (isRecord(chart)) return ofChart(answer, chart) ?? { kind: "rows" };
  return { kind: "rows" };
}

/** The column that names the rows of an answer: the category or the period that its figures belong to. */
export function labelOf(answer: Answer): number | null {
  const figure = figureOf(answer);
  return figure && "label" in figure ? figure.label : null;
}

function ofChart(answer: Answer, chart: { [key: string]: Json }): Figure | null {
  const encoding = isRecord(chart.encoding) ? chart.encoding : {};
  const mark = isRecord(chart.mark) ? chart.mark.type : chart.mark;
  const [x, y, series] = [columnOf(encoding.x), columnOf(encoding.y), columnOf(encoding.color)];
  const measures = foldedOf(chart);
  if (mark === "line" && x !== null && (y !== null || measures.length))
    return { kind: "line", label: x, measures: y === null ? measures : [y], series };
  if (mark === "bar" && !encoding.color && x !== null && y !== null && !isTime(encoding.x)) {
    const [label, measure] = isQuantity(encoding.y) ? [x, y] : [y, x];
    const others = answer.columns.map((_, i) => i).filter((i) => i !== label && i !== measure);
    return { kind: "ranking", label, measure, others, sorted: !isOrdered(answer) };
  }
  const asked = answer.kind === "chart" || mark === "bar";
  return asked && mark !== undefined ? { kind: "drawn" } : null;
}

/** Whether the rows have an order of their own: by the plan, or because no plan says otherwise. */
function isOrdered({ provenance: { plan } }: Answer): boolean {
  return !isRecord(plan) || (Array.isArray(plan.order_by) && plan.order_by.length > 0);
}

/** The rows of a figure in the order in which it shows them. */
export function inOrder(rows: Json[][], figure: Figure): Json[][] {
  if (figure.kind !== "ranking" || !figure.sorted) return rows;
  const value = (row: Json[]) => (row[figure.measure] == null ? Number.NEGATIVE_INFINITY : Number(row[figure.measure]));
  return [...rows].sort((a, b) => value(b) - value(a));
}

/** The columns of a chart with several measures on one axis. */
function foldedOf(chart: { [key: string]: Json }): number[] {
  const first = Array.isArray(chart.transform) ? chart.transform[0] : null;
  const keys = first && isRecord(first) && Array.isArray(first.fold) ? first.fold : [];
  return keys.map((key) => indexOf(key)).filter((index) => index !== null);
}

function columnOf(channel: Json | undefined): number | null {
  return channel !== undefined && isRecord(channel) ? indexOf(channel.field) : null;
}

/** The fields of a chart are called `c0`, `c1`, … after the columns. */
function indexOf(field: Json | undefined): number | null {
  const [, digits] = /^c(\d+)$/.exec(String(field)) ?? [];
  return digits === undefined ? null : Number(digits);
}

function isQuantity(channel: Json | undefined): boolean {
  return channel !== undefined && isRecord(channel) && channel.type === "quantitative";
}

function isTime(channel: Json | undefined): boolean {
  return channel !== undefined && isRecord(channel) && channel.type === "temporal";
}

function isRecord(value: Json | undefined): value is { [key: string]: Json } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
