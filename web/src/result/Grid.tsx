import type { Column } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Json, SortKey } from "../api/types";
import { CellValue } from "./Cell";
import type { CellFormat } from "./cells";
import { ColumnHead } from "./ColumnHead";
import { type Cursor, type GridActions, onGridKey } from "./gridKeys";
import type { RowSource } from "./rows";
import { drawnHeight, rowWindow, scrollTopFor } from "./rowWindow";
import { useColumns } from "./useColumns";

export const HEAD_HEIGHT = 34;

interface Props extends GridActions {
  label: string;
  source: RowSource;
  formats: CellFormat[];
  hidden: ReadonlySet<number>;
  sort: SortKey | null;
  onSort: (column: number) => void;
  rowHeight: number;
  /** A cell to show and to light, as a number in the prose asked for. */
  lit: Cursor | null;
}

/** A table of any length: only what is in sight exists. Arrow keys move a cursor, and columns have handles. */
export function Grid({ label, source, formats, hidden, sort, onSort, rowHeight, lit, ...actions }: Props) {
  const scroll = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, width: 0, height: 0 });
  const [cursor, setCursor] = useState<Cursor | null>(null);
  const sample = useMemo(() => Array.from({ length: Math.min(40, source.count()) }, (_, i) => source.row(i) ?? []), [source]);
  const table = useColumns(formats, sample);
  const shown = useShownColumns(table.getAllLeafColumns(), hidden, view.width);
  const rows = { count: source.count(), height: rowHeight, viewport: Math.max(rowHeight, view.height - HEAD_HEIGHT) };
  const { first, end, top } = rowWindow(rows, view.top);

  useLayoutEffect(() => {
    const node = scroll.current;
    if (!node) return undefined;
    const measure = () => setView({ top: node.scrollTop, width: node.clientWidth, height: node.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    node.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      node.removeEventListener("scroll", measure);
    };
  }, []);

  useEffect(() => source.ensure(first, end), [source, first, end]);

  function moveTo(next: Cursor) {
    setCursor(next);
    const node = scroll.current;
    if (!node) return;
    node.scrollTop = scrollTopFor(rows, next.row, node.scrollTop);
    const at = shown.columns.find((column) => column.index === next.column);
    if (at && at.pinned === null) node.scrollLeft = nearest(node, at, shown.pinnedWidth);
  }

  useEffect(() => {
    if (lit) moveTo(lit);
    // Only a new wish moves the table; a redraw does not.
  }, [lit]);

  const columnsInSight = useColumnsInSight(shown, scroll);
  return (
    <div
      className="grid scroll"
      ref={scroll}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={rows.count + 1}
      aria-colcount={shown.columns.length}
      aria-activedescendant={cursor ? cellId(cursor.row, cursor.column) : undefined}
      onKeyDown={(event) => onGridKey(event, { cursor, rows: rows.count, columns: shown.columns.map((c) => c.index), page: Math.floor(rows.viewport / rowHeight), moveTo, source, ...actions })}
      onFocus={() => !cursor && rows.count > 0 && setCursor({ row: first, column: shown.columns[0]?.index ?? 0 })}
    >
      <div className="grid-body" style={{ width: shown.width, height: drawnHeight(rows) + HEAD_HEIGHT }}>
        <div className="grid-head" role="row" aria-rowindex={1} style={{ width: shown.width }}>
          {columnsInSight.map((column) => (
            <ColumnHead
              key={column.id}
              place={column}
              format={formats[column.index]!}
              sort={sort?.column === source.columns[column.index]?.name ? sort : null}
              header={table.getFlatHeaders().find((header) => header.id === column.id)}
              onSort={() => onSort(column.index)}
            />
          ))}
        </div>
        <div className="grid-rows" style={{ transform: `translateY(${top}px)`, width: shown.width }}>
          {Array.from({ length: end - first }, (_, i) => (
            <GridRow
              key={first + i}
              index={first + i}
              top={i * rowHeight}
              height={rowHeight}
              values={source.row(first + i)}
              columns={columnsInSight}
              formats={formats}
              cursor={cursor?.row === first + i ? cursor.column : null}
              lit={lit?.row === first + i && cursor?.row === lit.row}
              onPick={setCursor}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

export interface PlacedColumn {
  id: string;
  index: number;
  left: number;
  width: number;
  /** Where it sticks, when it is pinned. */
  pinned: number | null;
}

interface ShownColumns {
  columns: PlacedColumn[];
  width: number;
  pinnedWidth: number;
}

function useShownColumns(all: Column<Json[]>[], hidden: ReadonlySet<number>, width: number): ShownColumns {
  const visible = all.filter((column) => !hidden.has(Number(column.id)));
  const ordered = [...visible.filter((column) => column.getIsPinned()), ...visible.filter((column) => !column.getIsPinned())];
  const total = ordered.reduce((sum, column) => sum + column.getSize(), 0);
  const extra = Math.max(0, (width - total) / Math.max(1, ordered.length));
  const key = ordered.map((column) => `${column.id}:${column.getSize()}:${Boolean(column.getIsPinned())}`).join(" ");
  return useMemo(() => {
    let left = 0;
    const columns = ordered.map((column): PlacedColumn => {
      const placed = { id: column.id, index: Number(column.id), left, width: column.getSize() + extra, pinned: column.getIsPinned() ? left : null };
      left += placed.width;
      return placed;
    });
    const pinnedWidth = columns.reduce((sum, column) => sum + (column.pinned === null ? 0 : column.width), 0);
    return { columns, width: Math.floor(left), pinnedWidth };
  }, [key, extra]);
}

/** Of many columns only those in sight are drawn; pinned ones always are. */
function useColumnsInSight(shown: ShownColumns, scroll: React.RefObject<HTMLDivElement | null>): PlacedColumn[] {
  const virtualizer = useVirtualizer({
    horizontal: true,
    count: shown.columns.length,
    estimateSize: (i) => shown.columns[i]?.width ?? 0,
    getScrollElement: () => scroll.current,
    overscan: 3,
  });
  useEffect(() => virtualizer.measure(), [shown, virtualizer]);
  const items = virtualizer.getVirtualItems();
  const from = items[0]?.index ?? 0;
  const to = items.at(-1)?.index ?? 0;
  return useMemo(() => shown.columns.filter((column, i) => column.pinned !== null || (i >= from && i <= to)), [shown, from, to]);
}

function nearest(node: HTMLElement, column: PlacedColumn, pinned: number): number {
  if (column.left < node.scrollLeft + pinned) return column.left - pinned;
  return Math.max(node.scrollLeft, column.left + column.width - node.clientWidth);
}

export function cellId(row: number, column: number): string {
  return `cell-${row}-${column}`;
}

interface RowProps {
  index: number;
  top: number;
  height: number;
  values: Json[] | undefined;
  columns: PlacedColumn[];
  formats: CellFormat[];
  cursor: number | null;
  lit: boolean;
  onPick: (cursor: Cursor) => void;
}

const GridRow = memo(function GridRow({ index, top, height, values, columns, formats, cursor, lit, onPick }: RowProps) {
  return (
    <div className="grid-row" role="row" aria-rowindex={index + 2} style={{ top, height }}>
      {columns.map((column) => {
        const format = formats[column.index]!;
        const isCursor = cursor === column.index;
        const className = ["cell", format.right ? "r" : "", column.pinned === null ? "" : "pin", isCursor ? "at" : "", isCursor && lit ? "lit" : ""].join(" ");
        return (
          <div
            key={column.id}
            id={cellId(index, column.index)}
            role="gridcell"
            aria-colindex={column.index + 1}
            aria-selected={isCursor}
            className={className}
            style={column.pinned === null ? { left: column.left, width: column.width, position: "absolute" } : { left: column.pinned, width: column.width }}
            onPointerDown={() => onPick({ row: index, column: column.index })}
          >
            {values ? <CellValue value={values[column.index] ?? null} format={format} /> : <i className="skel" />}
          </div>
        );
      })}
    </div>
  );
});
