import type { Column } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { CellFormat } from "../answer/cells";
import type { RowSource } from "../answer/rows";
import type { Json, SortKey } from "../api/types";
import { ColumnHead } from "./ColumnHead";
import { type Cursor, type GridActions, onGridKey } from "./gridKeys";
import { cellAt, cellId, type PlacedColumn } from "./rowPainter";
import { drawnHeight } from "./rowWindow";
import { TotalRow } from "./TotalRow";
import type { TotalLine } from "./totals";
import { useColumns } from "./useColumns";
import { usePaintedRows } from "./usePaintedRows";

export const HEAD_HEIGHT = 34;
const FEW_COLUMNS = 12;

interface Props extends GridActions {
  label: string;
  source: RowSource;
  formats: CellFormat[];
  hidden: ReadonlySet<number>;
  /** The column that names the rows. It stands first, wherever the query has it. */
  lead: number | null;
  sort: SortKey | null;
  onSort: (column: number) => void;
  rowHeight: number;
  /** A cell to scroll to and flash, after a click on a number in the text. */
  lit: Cursor | null;
  total: TotalLine | null;
}

/** A table of any length: only visible rows have elements. Arrow keys move a cursor; columns can be resized. */
export function Grid({ label, source, formats, hidden, lead, sort, onSort, rowHeight, lit, total, ...actions }: Props) {
  const scroll = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const view = useSize(scroll);
  const [cursor, setCursor] = useState<Cursor | null>(null);
  const sample = useMemo(
    () => Array.from({ length: Math.min(40, source.count()) }, (_, i) => source.row(i) ?? []),
    [source],
  );
  const table = useColumns(formats, sample);
  const shown = useShownColumns(table.getAllLeafColumns(), hidden, lead, view.width);
  const columns = useColumnsInSight(shown, scroll);
  const around = HEAD_HEIGHT + (total ? rowHeight : 0);
  const rows = {
    count: source.count(),
    height: rowHeight,
    viewport: view.height && Math.max(rowHeight, view.height - around),
  };
  const isLit = lit !== null && lit.row === cursor?.row && lit.column === cursor.column;
  const painted = usePaintedRows(scroll, body, { rows, source, columns, formats, cursor, lit: isLit });

  function moveTo(next: Cursor) {
    setCursor(next);
    painted.show(next.row);
    const node = scroll.current;
    const at = shown.columns.find((column) => column.index === next.column);
    if (node && at && at.pinned === null) node.scrollLeft = nearest(node, at, shown.pinnedWidth);
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new target scrolls the table; a redraw does not.
  useEffect(() => {
    if (lit) moveTo(lit);
  }, [lit]);

  return (
    <div
      className="grid scroll"
      ref={scroll}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={rows.count + (total ? 2 : 1)}
      aria-colcount={shown.columns.length}
      aria-activedescendant={cursor ? cellId(cursor.row, cursor.column) : undefined}
      onKeyDown={(event) =>
        onGridKey(event, {
          cursor,
          rows: rows.count,
          columns: shown.columns.map((c) => c.index),
          page: Math.floor(rows.viewport / rowHeight),
          moveTo,
          source,
          ...actions,
        })
      }
      onFocus={() =>
        !cursor && rows.count > 0 && setCursor({ row: painted.first(), column: shown.columns[0]?.index ?? 0 })
      }
    >
      <div className="grid-body" style={{ width: shown.width, height: drawnHeight(rows) + around }}>
        <div className="grid-head" role="row" aria-rowindex={1} style={{ width: shown.width }}>
          {columns.map((column) => (
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
        <div
          className="grid-rows"
          role="presentation"
          ref={body}
          style={{ width: shown.width }}
          onPointerDown={(event) => setCursor((now) => cellAt(event.target) ?? now)}
        />
        {total && (
          <TotalRow
            line={total}
            columns={columns}
            formats={formats}
            width={shown.width}
            height={rowHeight}
            rowIndex={rows.count + 2}
          />
        )}
      </div>
    </div>
  );
}

function useSize(element: React.RefObject<HTMLElement | null>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const node = element.current;
    if (!node) return undefined;
    const measure = () => setSize({ width: node.clientWidth, height: node.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, [element]);
  return size;
}

interface ShownColumns {
  columns: PlacedColumn[];
  width: number;
  pinnedWidth: number;
}

function useShownColumns(
  all: Column<Json[]>[],
  hidden: ReadonlySet<number>,
  lead: number | null,
  width: number,
): ShownColumns {
  const visible = all.filter((column) => !hidden.has(Number(column.id)));
  const rank = (column: Column<Json[]>) => (column.getIsPinned() ? 0 : Number(column.id) === lead ? 1 : 2);
  const ordered = [...visible].sort((a, b) => rank(a) - rank(b));
  const total = ordered.reduce((sum, column) => sum + column.getSize(), 0);
  const extra = Math.max(0, (width - total) / Math.max(1, ordered.length));
  const key = ordered.map((column) => `${column.id}:${column.getSize()}:${Boolean(column.getIsPinned())}`).join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` says what matters of the columns.
  return useMemo(() => {
    let left = 0;
    const columns = ordered.map((column): PlacedColumn => {
      const placed = {
        id: column.id,
        index: Number(column.id),
        left,
        width: column.getSize() + extra,
        pinned: column.getIsPinned() ? left : null,
      };
      left += placed.width;
      return placed;
    });
    const pinnedWidth = columns.reduce((sum, column) => sum + (column.pinned === null ? 0 : column.width), 0);
    return { columns, width: Math.floor(left), pinnedWidth };
  }, [key, extra]);
}

/** If there are many columns, only visible and pinned ones are drawn. If there are few, all are drawn. */
function useColumnsInSight(shown: ShownColumns, scroll: React.RefObject<HTMLDivElement | null>): PlacedColumn[] {
  const few = shown.columns.length <= FEW_COLUMNS;
  const virtualizer = useVirtualizer({
    enabled: !few,
    horizontal: true,
    count: shown.columns.length,
    estimateSize: (i) => shown.columns[i]?.width ?? 0,
    getScrollElement: () => scroll.current,
    overscan: 3,
  });
  useEffect(() => (few ? undefined : virtualizer.measure()), [shown, few, virtualizer]);
  const items = virtualizer.getVirtualItems();
  const from = items[0]?.index ?? 0;
  const to = items.at(-1)?.index ?? 0;
  return useMemo(
    () => shown.columns.filter((column, i) => few || column.pinned !== null || (i >= from && i <= to)),
    [shown, few, from, to],
  );
}

function nearest(node: HTMLElement, column: PlacedColumn, pinned: number): number {
  if (column.left < node.scrollLeft + pinned) return column.left - pinned;
  return Math.max(node.scrollLeft, column.left + column.width - node.clientWidth);
}
