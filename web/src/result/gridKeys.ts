import type { RowSource } from "../answer/rows";
import type { Json } from "../api/types";

export interface Cursor {
  row: number;
  column: number;
}

export interface GridActions {
  onOpenCell: (cursor: Cursor, value: Json) => void;
  onSortBy: (column: number) => void;
  onFilterBy: (value: Json) => void;
  onCopied: (what: string) => void;
}

interface GridState extends GridActions {
  cursor: Cursor | null;
  rows: number;
  /** The visible columns, in display order. */
  columns: number[];
  page: number;
  moveTo: (cursor: Cursor) => void;
  source: RowSource;
}

const MOVES: Record<string, [rows: number, columns: number]> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
};

export function onGridKey(event: React.KeyboardEvent, state: GridState): void {
  const { cursor } = state;
  if (!cursor || event.target !== event.currentTarget) return;
  const next = destination(event, state, cursor);
  const value = state.source.row(cursor.row)?.[cursor.column] ?? null;
  if (next) state.moveTo(next);
  else if (event.key === "Enter") state.onOpenCell(cursor, value);
  else if (event.key === "s") state.onSortBy(cursor.column);
  else if (event.key === "f") state.onFilterBy(value);
  else if (event.key === "c" && (event.metaKey || event.ctrlKey)) void copy(value, state.onCopied);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

export function destination(
  event: Pick<KeyboardEvent, "key" | "metaKey" | "ctrlKey">,
  state: Pick<GridState, "rows" | "columns" | "page">,
  cursor: Cursor,
): Cursor | null {
  const far = event.metaKey || event.ctrlKey;
  const at = state.columns.indexOf(cursor.column);
  const go = (row: number, column: number): Cursor => ({
    row: Math.max(0, Math.min(state.rows - 1, row)),
    column: state.columns[Math.max(0, Math.min(state.columns.length - 1, column))] ?? cursor.column,
  });
  const move = MOVES[event.key];
  if (move)
    return far
      ? go(move[0] ? move[0] * Infinity : cursor.row, move[1] ? move[1] * Infinity : at)
      : go(cursor.row + move[0], at + move[1]);
  if (event.key === "PageDown") return go(cursor.row + state.page, at);
  if (event.key === "PageUp") return go(cursor.row - state.page, at);
  if (event.key === "Home") return go(far ? 0 : cursor.row, 0);
  if (event.key === "End") return go(far ? state.rows - 1 : cursor.row, state.columns.length - 1);
  return null;
}

async function copy(value: Json, report: (what: string) => void): Promise<void> {
  await navigator.clipboard.writeText(
    value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value),
  );
  report("Cell copied");
}
