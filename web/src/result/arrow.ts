import { tableFromIPC } from "apache-arrow";
import type { Json } from "../api/types";

/** Rows that are made when they are looked at, and then kept. */
export interface RowBlock {
  readonly length: number;
  row: (index: number) => Json[] | undefined;
}

/** An Arrow stream as rows. Whole numbers become numbers where they fit, so that cells are written alike. */
export function decodeRows(bytes: Uint8Array): RowBlock {
  const table = tableFromIPC(bytes);
  const vectors = Array.from({ length: table.numCols }, (_, column) => table.getChildAt(column));
  const made = new Array<Json[] | undefined>(table.numRows);
  return {
    length: table.numRows,
    row: (index) =>
      index < table.numRows ? (made[index] ??= vectors.map((vector) => plain(vector?.get(index)))) : undefined,
  };
}

function plain(value: unknown): Json {
  if (value === undefined || value === null) return null;
  if (typeof value === "bigint") {
    const small = Number(value);
    return Number.isSafeInteger(small) ? small : value;
  }
  return value as Json;
}
