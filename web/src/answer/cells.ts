import type { Answer, ColumnFormat, Json, OutputColumn, Quantity } from "../api/types";
import type { BarScale } from "./cellBar";

/** Formats values for cells. Pure functions. */

const MINUS = "−";
/** Quantities whose positive values get a plus sign, so that gains and losses differ at a glance. */
const SIGNED: readonly (Quantity | null)[] = ["change", "growth"];

export interface CellFormat {
  header: string;
  unit: string | null;
  right: boolean;
  format: ColumnFormat["format"];
  quantity: Quantity | null;
  /** The scale of the bars, or null if it is not known. */
  bar: BarScale | null;
}

export function formatOf(answer: Pick<Answer, "columns" | "provenance">, index: number): CellFormat {
  const column = answer.columns[index];
  const format = answer.provenance.format?.columns.find((known) => known.column === column?.name);
  return format
    ? { ...format, right: format.format.kind === "number", quantity: format.quantity ?? null, bar: null }
    : plainFormat(column);
}

/** The format of a column without one of its own, from its type. */
export function plainFormat(column: OutputColumn | undefined): CellFormat {
  const numeric = isNumeric(column?.type ?? "");
  const key = /(^|_)(id|key|year|zip|code)$/i.test(column?.name ?? "");
  return {
    header: column?.name ?? "",
    unit: null,
    right: numeric,
    format: numeric ? { kind: "number", decimals: -1, grouped: !key, percent: false } : { kind: "text" },
    quantity: null,
    bar: null,
  };
}

export function isNumeric(type: string): boolean {
  return /int|number|decimal|float|double|real/i.test(type);
}

/** The text of a value. Null, empty text and hidden values are drawn by `Cell`. */
export function cellText(value: Json, { format, quantity }: CellFormat): string {
  const sign =
    SIGNED.includes(quantity) && (typeof value === "number" || typeof value === "bigint") && value > 0 ? "+" : "";
  if (typeof value === "bigint") return sign + grouped(value.toString(), format.kind !== "number" || format.grouped);
  if (typeof value === "number") return sign + number(value, format);
  if (typeof value === "boolean") return value ? "true" : "false";
  if (value === null) return "null";
  if (typeof value === "object") return JSON.stringify(value);
  return format.kind === "date" ? day(value, format.style) : value;
}

function number(value: number, format: CellFormat["format"]): string {
  if (format.kind !== "number") return String(value).replace("-", MINUS);
  const shown = format.percent ? value * 100 : value;
  const text = numberWriter(format.decimals, format.grouped).format(shown).replace("-", MINUS);
  return format.percent ? `${text} %` : text;
}

const writers = new Map<string, Intl.NumberFormat>();

/** Created once per number format, because creating one takes longer than formatting a screen of numbers. */
function numberWriter(decimals: number, grouped: boolean): Intl.NumberFormat {
  const key = `${decimals} ${grouped}`;
  const known = writers.get(key);
  if (known) return known;
  const digits =
    decimals < 0 ? { maximumFractionDigits: 6 } : { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const formatter = new Intl.NumberFormat("en-US", { ...digits, useGrouping: grouped });
  writers.set(key, formatter);
  return formatter;
}

function grouped(digits: string, group: boolean): string {
  const text = group ? digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",") : digits;
  return text.replace("-", MINUS);
}

function day(iso: string, style: string): string {
  const time = iso.replace("T", " ");
  if (style === "year") return iso.slice(0, 4);
  if (style === "month") return iso.slice(0, 7);
  if (style === "quarter") return `${iso.slice(0, 4)} Q${Math.ceil(Number(iso.slice(5, 7)) / 3)}`;
  if (style === "minute") return time.slice(0, 16);
  if (style === "second") return time.slice(0, 19);
  return iso.slice(0, 10);
}

/** Tab-separated values for the clipboard. Tabs and line breaks inside values become spaces. */
export function asTabbed(header: string[], rows: Json[][]): string {
  const text = (value: Json) =>
    value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  const line = (values: Json[]) => values.map((value) => guarded(text(value))).join("\t");
  return [header, ...rows].map(line).join("\n");
}

/** Escapes a value that a spreadsheet would run as a formula. */
function guarded(text: string): string {
  const plain = text.replace(/[\t\r\n]+/g, " ");
  return /^[=+@]/.test(plain) || /^-(?!\d)/.test(plain) ? `'${plain}` : plain;
}
