import { type CellFormat, plainFormat } from "../answer/cells";
import type { Json, OutputColumn } from "../api/types";

const MOST_DECIMALS = 6;

/** A format for a column of values. All get as many decimals as the value with the most decimals. */
export function columnFormat(column: OutputColumn, values: Json[]): CellFormat {
  const plain = plainFormat(column);
  if (plain.format.kind !== "number") return plain;
  const decimals = Math.max(0, ...values.map(decimalsOf));
  return { ...plain, format: { ...plain.format, decimals } };
}

function decimalsOf(value: Json): number {
  if (typeof value !== "number" || Number.isInteger(value)) return 0;
  const [, digits = ""] = value.toFixed(MOST_DECIMALS).replace(/0+$/, "").split(".");
  return digits.length;
}
