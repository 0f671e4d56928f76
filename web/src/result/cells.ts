import type { Answer, ColumnFormat, Json, OutputColumn, Quantity } from "../api/types";
import type { BarScale } from "./cellBar";

/** How values are written in cells. Pure. */

const MINUS = "−";
/** More is told from less at a glance. */
const SIGNED: readonly (Quantity | null)[] = ["change", "growth"];

export interface CellFormat {
  header: string;
  unit: string | null;
  right: boolean;
  format: ColumnFormat["format"];
  quantity: Quantity | null;
  /** Of bars beside the numbers, when it is known. */
  bar: BarScale | null;
}

export function formatOf(answer: Pick<Answer, "columns" | "provenance">, index: number): CellFormat {
  const column = answer.columns[index];
  const given = answer.provenance.format?.columns.find((known) => known.column === column?.name);
  return given
    ? { ...given, right: given.format.kind === "number", quantity: given.quantity ?? null, bar: null }
    : plainFormat(column);
}

/** Without a format of its own, a column is written by its type. */
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

/** The text of a value that is there; null, empty text and what is hidden are drawn apart. */
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

/** Made once for each kind of number: making one takes longer than writing a screen of numbers. */
function numberWriter(decimals: number, grouped: boolean): Intl.NumberFormat {
  const key = `${decimals} ${grouped}`;
  const known = writers.get(key);
  if (known) return known;
  const digits =
    decimals < 0 ? { maximumFractionDigits: 6 } : { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const made = new Intl.NumberFormat("en-US", { ...digits, useGrouping: grouped });
  writers.set(key, made);
  return made;
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

/** Tab-separated, as spreadsheets take it; a value that would break the shape loses its breaks. */
export function asTabbed(header: string[], rows: Json[][]): string {
  const text = (value: Json) =>
    value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  const line = (values: Json[]) => values.map((value) => guarded(text(value))).join("\t");
  return [header, ...rows].map(line).join("\n");
}

/** No cell begins a formula in the spreadsheet that it is pasted into. */
function guarded(text: string): string {
  const plain = text.replace(/[\t\r\n]+/g, " ");
  return /^[=+@]/.test(plain) || /^-(?!\d)/.test(plain) ? `'${plain}` : plain;
}
