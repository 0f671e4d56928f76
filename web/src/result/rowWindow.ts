/** Which rows are in sight while somebody scrolls, and where they are drawn. Pure. */

/** Browsers cannot draw much taller elements (Firefox: 17.8 million); beyond it the scroll bar is scaled. */
export const TALLEST = 15_000_000;
const BEYOND = 8;

export interface Rows {
  count: number;
  height: number;
  viewport: number;
}

/** How far the element is scrolled, and how far its rows are: of these there may be more pixels than it is tall. */
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

/** The ends of the scroll bar are those of the rows, and every part of it stands for the same part of them. */
export function placeAt(rows: Rows, scrollTop: number): Place {
  return { scrollTop, offset: within(rows, scrollTop * factor(rows)) };
}

/** A small step moves the rows by as much, so that none is passed over; a leap goes to that part of them. */
export function scrolled(rows: Rows, before: Place, scrollTop: number): Place {
  const step = scrollTop - before.scrollTop;
  if (factor(rows) === 1 || Math.abs(step) > rows.viewport) return placeAt(rows, scrollTop);
  return { scrollTop, offset: within(rows, before.offset + step) };
}

/** After small steps the scroll bar is set to where the rows are. They do not move. */
export function settled(rows: Rows, { offset }: Place): Place {
  return { scrollTop: offset / factor(rows), offset };
}

/** The nearest place from which a row is in sight; the same when it is already. */
export function reaching(rows: Rows, row: number, place: Place): Place {
  const { height, viewport } = rows;
  const offset = Math.min(row * height, Math.max(place.offset, (row + 1) * height - viewport));
  return offset === place.offset ? place : settled(rows, { ...place, offset: within(rows, offset) });
}

/** As many rows wherever one is, so that each that leaves makes room for one that comes. */
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
