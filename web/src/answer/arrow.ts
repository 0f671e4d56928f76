import { tableFromIPC } from "apache-arrow";
import type { Json } from "../api/types";

/** Rows of an Arrow table. Each is converted when it is first read, and then cached. */
export interface RowBlock {
  readonly length: number;
  row: (index: number) => Json[] | undefined;
}

/** Reads an Arrow stream. Integers that fit become numbers instead of bigints, like those in JSON. */
export function decodeRows(bytes: Uint8Array): RowBlock {
  const table = tableFromIPC(bytes);
  const vectors = Array.from({ length: table.numCols }, (_, column) => table.getChildAt(column));
  const converted = new Array<Json[] | undefined>(table.numRows);
  return {
    length: table.numRows,
    row: (index) =>
      index < table.numRows ? (converted[index] ??= vectors.map((vector) => plain(vector?.get(index)))) : undefined,
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
