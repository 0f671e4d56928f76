import { path, request } from "../api/client";
import type { Json, OutputColumn, SortKey } from "../api/types";
import type { RowBlock } from "./arrow";
import { BLOCK, blockOf, blocksWanted } from "./rowBlocks";

/** Access to rows by range, in memory or on the server. A row that is not loaded is `undefined`; `ensure` loads it. */
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

/** All rows of an answer that came with it. */
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

/** Sorts nulls last in both directions. */
function compare(a: Json, b: Json, descending: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const [x, y] = [a, b] as [string | number, string | number];
  const order = typeof x === "string" && typeof y === "string" ? x.localeCompare(y) : x < y ? -1 : x > y ? 1 : 0;
  return descending ? -order : order;
}

const KEPT = 60;
const AT_ONCE = 2;

/**
 * Rows that stay on the server and are loaded in blocks, as Arrow. The most recently used blocks are cached; the server
 * sorts and filters. Only a few requests run at a time, and the next one is always for the rows that are visible now, so
 * that rows appear while the user drags the scroll bar.
 */
export function remoteRows(
  run: string,
  columns: OutputColumn[],
  total: number,
  order: RowOrder,
  first: Json[][] = [],
): RowSource {
  const blocks = new Map<number, RowBlock>();
  const asked = new Set<number>();
  const listeners = new Set<() => void>();
  const closing = new AbortController();
  const untouched = !order.sort && !order.search;
  let known = total;
  let wanted: number[] = [];
  let seen = 0;

  function fetchWanted() {
    for (const block of wanted) {
      if (asked.size >= AT_ONCE) return;
      if (!blocks.has(block) && !asked.has(block)) void fetchBlock(block);
    }
  }

  async function fetchBlock(block: number) {
    asked.add(block);
    try {
      const found = await readBlock(run, { offset: block * BLOCK, limit: BLOCK, order }, closing.signal);
      known = found.rowCount;
      keep(blocks, block, found.block);
    } catch (error) {
      if (!closing.signal.aborted) throw error;
      return;
    } finally {
      asked.delete(block);
    }
    for (const listener of listeners) listener();
    fetchWanted();
  }

  return {
    columns,
    count: () => known,
    row: (index) => blocks.get(blockOf(index))?.row(index % BLOCK) ?? (untouched ? first[index] : undefined),
    ensure: (from, to) => {
      if (untouched && from === 0 && to <= first.length) return; // the rows that came with the answer are enough until the user scrolls
      wanted = blocksWanted({ from, to: Math.min(to, known) }, seen, known);
      seen = from;
      for (const block of wanted) touch(blocks, block);
      fetchWanted();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => closing.abort(),
  };
}

/** Moves a block to the end of the map, so that the least recently used one is first. */
function touch(blocks: Map<number, RowBlock>, at: number): void {
  const block = blocks.get(at);
  if (block && blocks.delete(at)) blocks.set(at, block);
}

function keep(blocks: Map<number, RowBlock>, at: number, block: RowBlock): void {
  blocks.set(at, block);
  const oldest = blocks.keys().next();
  if (blocks.size > KEPT && !oldest.done) blocks.delete(oldest.value);
}

export interface Wanted {
  offset: number;
  limit: number;
  order: RowOrder;
}

/** Loads a range of rows as Arrow, so that numbers are not converted to text and back. */
export async function readRows(run: string, wanted: Wanted, signal?: AbortSignal) {
  const { block, rowCount } = await readBlock(run, wanted, signal);
  return { rows: Array.from({ length: block.length }, (_, i) => block.row(i) ?? []), rowCount };
}

async function readBlock(run: string, { offset, limit, order }: Wanted, signal?: AbortSignal) {
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
  const block = decodeRows(new Uint8Array(await response.arrayBuffer()));
  return { block, rowCount: Number(response.headers.get("X-Row-Count") ?? block.length) };
}
