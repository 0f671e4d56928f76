import type { SourceList } from "../api/types";
import { bytes, count } from "../shared/format";

/** Decides how uploaded files become sources. Pure functions. */

const READABLE =
  /\.(csv|txt|tsv|tab|json|ndjson|jsonl|parquet|pq|xlsx|xlsm|xlsb|xls|ods|db|sqlite3?|duckdb|ddb)(\.gz)?$/i;
const DATABASE = /\.(db|sqlite3?|duckdb|ddb)$/i;
const MB = 1_000_000;

/** Files of tables that are uploaded together become one source, so that a question can join them. A database is its own. */
export function grouped<F extends { name: string }>(files: F[]): F[][] {
  const tables = files.filter((file) => !DATABASE.test(file.name));
  const databases = files.filter((file) => DATABASE.test(file.name));
  return [...(tables.length ? [tables] : []), ...databases.map((file) => [file])];
}

/** Whether a file of a folder can be data: hidden files, pictures and notes are left out. */
export function isData(name: string): boolean {
  return !name.startsWith(".") && READABLE.test(name);
}

/** The reason not to upload a file, or null. */
export function refusal(size: number, limits: Pick<SourceList, "upload_mb" | "upload_room_mb">): string | null {
  if (!limits.upload_mb) return "Adding sources is turned off here.";
  if (!size) return "The file is empty.";
  if (size > limits.upload_mb * MB) return `The file has ${bytes(size)}; the limit is ${count(limits.upload_mb)} MB.`;
  if (size > (limits.upload_room_mb + 1) * MB)
    return `The file has ${bytes(size)}, but only ${count(limits.upload_room_mb)} MB are left for uploads. Remove a source that you no longer need.`;
  return null;
}
