/** Computes which rows are visible at a scroll position, and where they are drawn. Pure functions. */

/** Browsers limit the height of elements (Firefox: 17.8 million pixels). Beyond this height the scroll bar is scaled. */
export const TALLEST = 15_000_000;
const BEYOND = 8;

export interface Rows {
  count: number;
  height: number;
  viewport: number;
}

/** The scroll position of the element, and that of its rows, which can be taller than the element. */
export interface Place {
  scrollTop: number;
  offset: number;
}

export interface RowWindow {
  first: number;
  /** One past the last. */
  end: number;
}

export const AT_TOP: Place = { scrollTop: 0, offset: 0 };

export function drawnHeight({ count, height }: Rows): number {
  return Math.min(count * height, TALLEST);
}

/** Maps a position of the scroll bar to one of the rows in proportion, so that both ends match. */
export function placeAt(rows: Rows, scrollTop: number): Place {
  return { scrollTop, offset: within(rows, scrollTop * factor(rows)) };
}

/** A small step moves the rows by the same number of pixels, so that none is skipped; a jump moves them in proportion. */
export function scrolled(rows: Rows, before: Place, scrollTop: number): Place {
  const step = scrollTop - before.scrollTop;
  if (factor(rows) === 1 || Math.abs(step) > rows.viewport) return placeAt(rows, scrollTop);
  return { scrollTop, offset: within(rows, before.offset + step) };
}

/** After small steps, moves the scroll bar to match the rows. The rows do not move. */
export function settled(rows: Rows, { offset }: Place): Place {
  return { scrollTop: offset / factor(rows), offset };
}

/** The nearest position at which a row is visible; the current one if it is visible already. */
export function reaching(rows: Rows, row: number, place: Place): Place {
  const { height, viewport } = rows;
  const offset = Math.min(row * height, Math.max(place.offset, (row + 1) * height - viewport));
  return offset === place.offset ? place : settled(rows, { ...place, offset: within(rows, offset) });
}

/** Always the same number of rows, so that the element of a row that leaves can be reused for one that enters. */
export function rowWindow({ count, height, viewport }: Rows, { offset }: Place): RowWindow {
  const size = Math.min(count, Math.ceil(viewport / height) + 1 + 2 * BEYOND);
  const first = Math.max(0, Math.min(count - size, Math.floor(offset / height) - BEYOND));
  return { first, end: first + size };
}

function factor(rows: Rows): number {
  const drawn = drawnHeight(rows);
  return drawn > rows.viewport ? lowest(rows) / (drawn - rows.viewport) : 1;
}

function lowest({ count, height, viewport }: Rows): number {
  return Math.max(0, count * height - viewport);
}

function within(rows: Rows, offset: number): number {
  return Math.max(0, Math.min(lowest(rows), offset));
}
