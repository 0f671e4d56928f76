import { tableFromIPC } from "apache-arrow";
import type { Json } from "../api/types";

/** An Arrow stream as rows. Whole numbers become numbers where they fit, so that cells are written alike. */
export function decodeRows(bytes: Uint8Array): Json[][] {
  const table = tableFromIPC(bytes);
  const rows: Json[][] = Array.from({ length: table.numRows }, () => new Array<Json>(table.numCols));
  for (let column = 0; column < table.numCols; column++) {
    const vector = table.getChildAt(column);
    for (let row = 0; row < table.numRows; row++) rows[row]![column] = plain(vector?.get(row));
  }
  return rows;
}

function plain(value: unknown): Json {
  if (value === undefined || value === null) return null;
  if (typeof value === "bigint") {
    const small = Number(value);
    return Number.isSafeInteger(small) ? small : value;
  }
  return value as Json;
}
