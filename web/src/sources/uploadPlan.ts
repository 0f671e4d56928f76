import type { SourceList } from "../api/types";
import { bytes, count } from "../shared/format";

/** What becomes of files that come together. Pure. */

const READABLE =
  /\.(csv|txt|tsv|tab|json|ndjson|jsonl|parquet|pq|xlsx|xlsm|xlsb|xls|ods|db|sqlite3?|duckdb|ddb)(\.gz)?$/i;
const DATABASE = /\.(db|sqlite3?|duckdb|ddb)$/i;
const MB = 1_000_000;

/** Tables that come together can be asked together, so they are one source; a database is one by itself. */
export function grouped<F extends { name: string }>(files: F[]): F[][] {
  const tables = files.filter((file) => !DATABASE.test(file.name));
  const databases = files.filter((file) => DATABASE.test(file.name));
  return [...(tables.length ? [tables] : []), ...databases.map((file) => [file])];
}

/** Of a folder only what may be data is taken: no hidden files, pictures or notes. */
export function isData(name: string): boolean {
  return !name.startsWith(".") && READABLE.test(name);
}

/** Why a file need not be sent at all. */
export function refusal(size: number, limits: Pick<SourceList, "upload_mb" | "upload_room_mb">): string | null {
  if (!limits.upload_mb) return "Adding sources is turned off here.";
  if (!size) return "The file is empty.";
  if (size > limits.upload_mb * MB) return `It has ${bytes(size)}; a file may have ${count(limits.upload_mb)} MB.`;
  if (size > (limits.upload_room_mb + 1) * MB)
    return `It has ${bytes(size)}, and there is room for ${count(limits.upload_room_mb)} MB. Remove a source that is not needed any more.`;
  return null;
}
