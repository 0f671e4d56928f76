import { written } from "../answer/Cell";
import { drawBar } from "../answer/cellBar";
import type { CellFormat } from "../answer/cells";
import type { RowSource } from "../answer/rows";
import type { Json } from "../api/types";
import type { Cursor } from "./gridKeys";
import { type Place, type Rows, type RowWindow, rowWindow } from "./rowWindow";

export interface PlacedColumn {
  id: string;
  index: number;
  left: number;
  width: number;
  /** The offset of a pinned column; null if it is not pinned. */
  pinned: number | null;
}

export interface Drawing {
  rows: Rows;
  source: RowSource;
  columns: PlacedColumn[];
  formats: CellFormat[];
  cursor: Cursor | null;
  /** Whether the cell under the cursor is highlighted. */
  lit: boolean;
}

/** A row element and its current content. */
interface Slot {
  element: HTMLElement;
  cells: HTMLElement[];
  index: number;
  top: number;
  values: Json[] | undefined;
  /** The column of the cursor, or null if the cursor is in another row. */
  marked: number | null;
  lit: boolean;
}

/** Rows are positioned relative to a nearby row, because browsers round large offsets to whole pixels. */
const FARTHEST = 100_000;

/**
 * Draws the visible rows and updates only the cells that changed. The elements of a row that scrolls out of view are reused
 * for one that scrolls in. It works without React, because rendering in each frame would make scrolling a million rows slow.
 */
export class RowPainter {
  private slots: Slot[] = [];
  private columns: PlacedColumn[] = [];
  private formats: CellFormat[] = [];
  private height = 0;
  private origin = 0;
  private moved = "";

  constructor(private readonly host: HTMLElement) {}

  paint(drawing: Drawing, place: Place): RowWindow {
    const window = rowWindow(drawing.rows, place);
    this.prepare(drawing, window.end - window.first);
    this.move(drawing.rows.height, window.first, place);
    for (let index = window.first; index < window.end; index++)
      this.show(this.slots[index % this.slots.length]!, index, drawing);
    return window;
  }

  private prepare({ columns, formats, rows }: Drawing, size: number): void {
    if (
      columns === this.columns &&
      formats === this.formats &&
      rows.height === this.height &&
      size === this.slots.length
    )
      return;
    Object.assign(this, { columns, formats, height: rows.height });
    this.slots = Array.from({ length: size }, () => blankSlot(columns, rows.height));
    this.host.replaceChildren(...this.slots.map((slot) => slot.element));
  }

  private move(height: number, first: number, { scrollTop, offset }: Place): void {
    if (Math.abs(first - this.origin) * height > FARTHEST) this.origin = first;
    const moved = `translateY(${scrollTop - offset + this.origin * height}px)`;
    if (moved !== this.moved) this.host.style.transform = this.moved = moved;
  }

  private show(slot: Slot, index: number, { source, rows, cursor, lit }: Drawing): void {
    const top = (index - this.origin) * rows.height;
    if (top !== slot.top) {
      slot.top = top;
      slot.element.style.transform = `translateY(${top}px)`;
    }
    const values = source.row(index);
    const marked = cursor?.row === index ? cursor.column : null;
    if (index === slot.index && values === slot.values && marked === slot.marked && lit === slot.lit) return;
    if (index !== slot.index) slot.element.setAttribute("aria-rowindex", String(index + 2));
    Object.assign(slot, { index, values, marked, lit });
    for (const [i, cell] of slot.cells.entries()) this.fill(slot, cell, this.columns[i]!);
  }

  private fill({ index, values, marked, lit }: Slot, cell: HTMLElement, column: PlacedColumn): void {
    const format = this.formats[column.index]!;
    const shown = values && written(values[column.index] ?? null, format);
    const at = marked === column.index;
    const className = `cell${format.right ? " r" : ""}${column.pinned === null ? "" : " pin"}${shown?.quiet ? " null" : ""}${format.bar ? " barred" : ""}${at ? " at" : ""}${at && lit ? " lit" : ""}`;
    if (className !== cell.className) cell.className = className;
    if (format.bar) drawBar(cell, values?.[column.index], format.bar);
    cell.id = cellId(index, column.index);
    cell.ariaSelected = String(at);
    if (shown) write(cell, shown.text);
    else if (!(cell.firstChild instanceof HTMLElement)) cell.replaceChildren(skeleton());
  }
}

export function cellId(row: number, column: number): string {
  return `cell-${row}-${column}`;
}

/** The row and column of the cell that an element belongs to. */
export function cellAt(target: EventTarget): Cursor | null {
  const cell = target instanceof Element ? target.closest("[role=gridcell]") : null;
  const [, row, column] = /^cell-(\d+)-(\d+)$/.exec(cell?.id ?? "") ?? [];
  return row && column ? { row: Number(row), column: Number(column) } : null;
}

function blankSlot(columns: PlacedColumn[], height: number): Slot {
  const element = document.createElement("div");
  element.className = "grid-row";
  element.role = "row";
  element.style.height = `${height}px`;
  const cells = columns.map(blankCell);
  element.append(...cells);
  return { element, cells, index: -1, top: NaN, values: undefined, marked: null, lit: false };
}

function blankCell({ index, left, width, pinned }: PlacedColumn): HTMLElement {
  const cell = document.createElement("div");
  cell.role = "gridcell";
  cell.ariaColIndex = String(index + 1);
  Object.assign(cell.style, {
    left: `${pinned ?? left}px`,
    width: `${width}px`,
    ...(pinned === null && { position: "absolute" }),
  });
  return cell;
}

function write(cell: HTMLElement, text: string): void {
  if (cell.firstChild instanceof Text) cell.firstChild.data = text;
  else cell.replaceChildren(text);
}

function skeleton(): HTMLElement {
  const bar = document.createElement("i");
  bar.className = "skel";
  return bar;
}
