import { path, request } from "../api/client";
import type { Json, OutputColumn, SortKey } from "../api/types";

/** Rows by range, wherever they are. A row that is not here yet is `undefined`; `ensure` fetches it. */
export interface RowSource {
  readonly columns: OutputColumn[];
  count: () => number;
  row: (index: number) => Json[] | undefined;
  ensure: (from: number, to: number) => void;
  subscribe: (listener: () => void) => () => void;
  close: () => void;
}

export interface RowOrder {
  sort: SortKey | null;
  search: string;
}

export const AS_IS: RowOrder = { sort: null, search: "" };

/** Rows that came with the answer, all of them. */
export function heldRows(columns: OutputColumn[], rows: Json[][], order: RowOrder): RowSource {
  const shown = arranged(columns, rows, order);
  return {
    columns,
    count: () => shown.length,
    row: (index) => shown[index],
    ensure: () => {},
    subscribe: () => () => {},
    close: () => {},
  };
}

export function arranged(columns: OutputColumn[], rows: Json[][], { sort, search }: RowOrder): Json[][] {
  const words = search.trim().toLowerCase();
  const found = words ? rows.filter((row) => row.some((value) => String(value).toLowerCase().includes(words))) : rows;
  const at = sort ? columns.findIndex((column) => column.name === sort.column) : -1;
  if (!sort || at < 0) return found;
  return [...found].sort((a, b) => compare(a[at] ?? null, b[at] ?? null, sort.descending));
}

/** Nulls are last whichever way the order runs. */
function compare(a: Json, b: Json, descending: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const [x, y] = [a, b] as [string | number, string | number];
  const order = typeof x === "string" && typeof y === "string" ? x.localeCompare(y) : x < y ? -1 : x > y ? 1 : 0;
  return descending ? -order : order;
}

const BLOCK = 500;
const KEPT = 60;

/**
 * Rows of a run that stay on the server and come in blocks, as Arrow. The blocks seen last are kept; sorting and search
 * happen over there.
 */
export function remoteRows(run: string, columns: OutputColumn[], total: number, order: RowOrder, first: Json[][] = []): RowSource {
  const blocks = new Map<number, Json[][]>();
  const asked = new Map<number, AbortController>();
  const listeners = new Set<() => void>();
  const untouched = !order.sort && !order.search;
  let known = total;
  const tell = () => listeners.forEach((listener) => listener());

  async function fetchBlock(block: number) {
    const stop = new AbortController();
    asked.set(block, stop);
    try {
      const found = await readRows(run, { offset: block * BLOCK, limit: BLOCK, order }, stop.signal);
      known = found.rowCount;
      blocks.set(block, found.rows);
      forgetOldest(blocks);
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    } finally {
      asked.delete(block);
      tell();
    }
  }

  return {
    columns,
    count: () => known,
    row: (index) => blocks.get(Math.floor(index / BLOCK))?.[index % BLOCK] ?? (untouched ? first[index] : undefined),
    ensure: (from, to) => {
      const wanted = new Set<number>();
      for (let block = Math.floor(from / BLOCK); block * BLOCK < Math.min(to, known); block++) wanted.add(block);
      for (const [block, stop] of asked) if (!wanted.has(block)) stop.abort();
      for (const block of wanted) if (!blocks.has(block) && !asked.has(block)) void fetchBlock(block);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => asked.forEach((stop) => stop.abort()),
  };
}

function forgetOldest(blocks: Map<number, Json[][]>): void {
  const oldest = blocks.keys().next();
  if (blocks.size > KEPT && !oldest.done) blocks.delete(oldest.value);
}

export interface Wanted {
  offset: number;
  limit: number;
  order: RowOrder;
}

/** One range of a run's rows, over Arrow: numbers are not written as text and read again. */
export async function readRows(run: string, { offset, limit, order }: Wanted, signal?: AbortSignal) {
  const { sort, search } = order;
  const body = { offset, limit, sort: sort ? [sort] : [], search: search || null, format: "arrow" };
  const [response, { decodeRows }] = await Promise.all([
    request(path`/runs/${run}/rows/query`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal,
    }),
    import("./arrow"),
  ]);
  const rows = decodeRows(new Uint8Array(await response.arrayBuffer()));
  return { rows, rowCount: Number(response.headers.get("X-Row-Count") ?? rows.length) };
}

