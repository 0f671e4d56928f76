import type { Answer, Json, OutputColumn } from "../api/types";
import { type CellFormat, cellText, formatOf, isNumeric } from "./cells";

/** Builds chart specifications from the columns of a result. Pure. Names from data appear only as titles, never in expressions. */

export type ChartKind = "bar" | "line" | "point" | "area" | "pie";
export type Spec = Record<string, unknown>;

export interface ChartFields {
  /** The column of the category axis: names or times. */
  label: number;
  measure: number;
  /** The column that colours the series. */
  series: number | null;
}

export const MOST_POINTS = 5_000;
/** Up to this many bars are labelled with their values. */
const MOST_LABELS = 40;
/** The room for a bar's label, as a fraction of the longest bar. */
const ROOM = 0.16;
const SAID = "said";
const SERIES = 6;
/** A reader cannot compare more slices of a pie than this. */
const MOST_SLICES = 8;
/** Gains and losses have the colours of the bars in the table. */
const LESS_OR_MORE = {
  field: "sign",
  type: "nominal",
  legend: null,
  scale: { domain: ["less", "more"], range: "diverging" },
};

/** The columns to chart, or null if the result has no chart. */
export function chartFields(columns: OutputColumn[], rows: Json[][]): ChartFields | null {
  const all = columns.map((_, i) => i);
  const numbers = all.filter((i) => isNumeric(columns[i]!.type));
  const times = all.filter((i) => /date|time/.test(columns[i]!.type));
  const names = all.filter((i) => !numbers.includes(i) && !times.includes(i));
  const measure = numbers.at(names.length || times.length ? 0 : 1);
  const label = times[0] ?? names[0] ?? (numbers.length > 1 ? numbers[0] : undefined);
  if (measure === undefined || label === undefined || rows.length < 2) return null;
  const other = [...names, ...times].find((i) => i !== label);
  const few = other !== undefined && new Set(rows.map((row) => row[other])).size <= SERIES;
  return { label, measure, series: few ? (other ?? null) : null };
}

export function defaultKind(answer: Answer, fields: ChartFields): ChartKind {
  const chart = answer.provenance.chart as { mark?: { type?: string } | string } | null;
  const mark = typeof chart?.mark === "string" ? chart.mark : chart?.mark?.type;
  if (mark === "bar" || mark === "line" || mark === "point" || mark === "area") return mark;
  if (mark === "arc") return "pie";
  const type = answer.columns[fields.label]?.type ?? "";
  return /date|time/.test(type) ? "line" : isNumeric(type) ? "point" : "bar";
}

/** Whether slices say something: few parts of a whole, none of them missing or negative. */
export function suitsPie({ measure, series }: ChartFields, rows: Json[][]): boolean {
  const parts = rows.map((row) => row[measure]);
  return series === null && rows.length <= MOST_SLICES && parts.every((part) => part !== null && Number(part) >= 0);
}

export function chartSpec(answer: Answer, kind: ChartKind, fields: ChartFields, rows: Json[][]): Spec {
  const { label, measure, series } = fields;
  const [labelFormat, measureFormat] = [formatOf(answer, label), formatOf(answer, measure)];
  if (kind === "pie")
    return {
      data: { name: "rows" },
      width: "container",
      height: 320,
      mark: { type: "arc" },
      encoding: {
        theta: { field: key(measure), type: "quantitative", stack: true, title: title(measureFormat) },
        color: { field: key(label), type: "nominal", sort: null, title: title(labelFormat) },
        order: { field: key(measure), type: "quantitative", sort: "descending" },
      },
    };
  const type = answer.columns[label]?.type ?? "";
  const isTime = /date|time/.test(type);
  const lying = kind === "bar" && !isTime && (series === null || rows.length > 6);
  const labelled = lying && series === null && rows.length <= MOST_LABELS;
  const place = {
    field: key(label),
    type: isTime ? "temporal" : isNumeric(type) && kind === "point" ? "quantitative" : "nominal",
    sort: null,
    title: lying ? null : title(labelFormat),
    axis: lying
      ? { labelLimit: 160, ticks: false, domain: false, grid: false }
      : { grid: false, labelAngle: 0, labelOverlap: true },
  };
  const quantity = {
    field: key(measure),
    type: "quantitative",
    title: title(measureFormat),
    axis: {
      format: "~s",
      labelExpr: "datum.value === 0 ? '0' : datum.label",
      tickCount: 5,
      domain: false,
      ticks: false,
    },
    ...(kind !== "bar" && kind !== "area" && { scale: { zero: false } }),
    ...(labelled && { scale: withRoom(rows.map((row) => Number(row[measure]))) }),
  };
  const signed =
    kind === "bar" && series === null && (measureFormat.quantity === "change" || measureFormat.quantity === "growth");
  const color = signed
    ? LESS_OR_MORE
    : series === null
      ? undefined
      : { field: key(series), type: "nominal", sort: null, title: title(formatOf(answer, series)) };
  return {
    data: { name: "rows" },
    width: "container",
    height: lying ? { step: 26 } : 320,
    autosize: { type: "fit-x", contains: "padding" },
    ...(signed && { transform: [{ calculate: `datum.${key(measure)} < 0 ? 'less' : 'more'`, as: "sign" }] }),
    ...(labelled
      ? { layer: [{ mark: LYING_BAR, ...(color && { encoding: { color } }) }, ...valueLabels(key(measure))] }
      : { mark: lying ? LYING_BAR : markOf(kind) }),
    encoding: lying
      ? { y: place, x: quantity, ...(color && !labelled && { color }) }
      : {
          x: place,
          y: quantity,
          ...(color && { color }),
          ...(kind === "bar" && series !== null && { xOffset: { field: key(series) } }),
        },
  };
}

/** Bars start at 0, and the scale leaves room for their labels. */
function withRoom(values: number[]): Spec {
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const room = ROOM * Math.max(most, -least);
  return { domainMin: least && least - room, domainMax: most && most + room, nice: false };
}

/** Labels at the end of each bar: outside it, on its side of 0. */
function valueLabels(measure: string): Spec[] {
  const label = (test: string, align: string, dx: number) => ({
    transform: [{ filter: `datum.${measure} ${test} 0` }],
    mark: { type: "text", align, dx },
    encoding: { text: { field: SAID } },
  });
  return [label(">=", "left", 6), label("<", "right", -6)];
}

const LYING_BAR = { type: "bar", cornerRadiusEnd: 2, height: { band: 0.66 } };

function markOf(kind: ChartKind): Spec {
  if (kind === "bar") return { type: "bar", cornerRadiusEnd: 2 };
  if (kind === "line") return { type: "line", point: { size: 28, filled: true }, strokeWidth: 2 };
  if (kind === "area") return { type: "area", opacity: 0.35, line: true };
  return { type: "point", filled: true, size: 46 };
}

export function chartRows(answer: Answer, { measure }: ChartFields, rows: Json[][]): Record<string, Json>[] {
  const format = formatOf(answer, measure);
  const plain = (value: Json) => (typeof value === "bigint" ? Number(value) : value);
  return rows.map((row) => ({
    ...Object.fromEntries(row.map((value, i) => [key(i), plain(value)])),
    [SAID]: cellText(row[measure] ?? null, format),
  }));
}

/** A description of the chart for screen readers. */
export function description(answer: Answer, fields: ChartFields, rows: Json[][]): string {
  const [label, measure] = [formatOf(answer, fields.label), formatOf(answer, fields.measure)];
  return `${measure.header} by ${label.header}, ${rows.length} ${rows.length === 1 ? "row" : "rows"}. The table has the same values.`;
}

export function title(format: CellFormat): string {
  return format.unit ? `${format.header}, ${format.unit}` : format.header;
}

function key(index: number): string {
  return `c${index}`;
}
