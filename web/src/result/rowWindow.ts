/** Which rows are in sight, and where to draw them. Pure. */

/** Browsers cannot draw much taller elements (Firefox: 17.8 million); beyond it the scroll bar is scaled. */
export const TALLEST = 15_000_000;
const BEYOND = 8;

export interface Rows {
  count: number;
  height: number;
  viewport: number;
}

export interface RowWindow {
  first: number;
  /** One past the last. */
  end: number;
  /** Where the first of them is drawn, within the element that scrolls. */
  top: number;
}

export function drawnHeight({ count, height }: Rows): number {
  return Math.min(count * height, TALLEST);
}

/** With a million rows, one pixel of the scroll bar stands for several of rows; its ends are those of the rows. */
function factor(rows: Rows): number {
  const full = rows.count * rows.height;
  const drawn = drawnHeight(rows);
  return drawn > rows.viewport ? (full - rows.viewport) / (drawn - rows.viewport) : 1;
}

export function rowWindow(rows: Rows, scrollTop: number): RowWindow {
  const { count, height, viewport } = rows;
  const offset = Math.max(0, Math.min(scrollTop * factor(rows), count * height - viewport));
  const first = Math.max(0, Math.floor(offset / height) - BEYOND);
  const end = Math.min(count, Math.ceil((offset + viewport) / height) + BEYOND);
  return { first, end, top: scrollTop - (offset - first * height) };
}

/** Where to scroll so that a row is in sight; `scrollTop` itself when it is already. */
export function scrollTopFor(rows: Rows, row: number, scrollTop: number): number {
  const { height, viewport } = rows;
  const by = factor(rows);
  const offset = scrollTop * by;
  if (row * height < offset) return (row * height) / by;
  if ((row + 1) * height > offset + viewport) return ((row + 1) * height - viewport) / by;
  return scrollTop;
}
