/** Decides which blocks of rows to fetch. Pure functions. */

export const BLOCK = 500;

export interface Range {
  from: number;
  /** One past the last. */
  to: number;
}

export function blockOf(row: number): number {
  return Math.floor(row / BLOCK);
}

/** The visible blocks, then the next one in the direction of scrolling, unless the user has jumped. */
export function blocksWanted({ from, to }: Range, seenBefore: number, count: number): number[] {
  const [first, last] = [blockOf(from), blockOf(Math.max(from, to - 1))];
  const inSight = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const step = from - seenBefore;
  const ahead = step > 0 ? last + 1 : step < 0 ? first - 1 : -1;
  const exists = ahead >= 0 && ahead * BLOCK < count;
  return exists && Math.abs(step) < BLOCK ? [...inSight, ahead] : inSight;
}
