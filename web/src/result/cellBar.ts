import type { Json } from "../api/types";

/** Bars beside numbers that are changes or parts of a whole; all of a column start from one zero line. */

export interface BarScale {
  low: number;
  high: number;
  /** How wide the numbers are that stand to the right of the bars. */
  room: number;
}

/** How wide the place for bars is, in a cell. */
export const BAR_WIDTH = 76;
const SHORTEST = 1;

export interface Bar {
  /** Where the zero line stands, from the left of the place. */
  zero: number;
  start: number;
  length: number;
}

export function scaleOf(minimum: Json, maximum: Json, room: number): BarScale | null {
  if (typeof minimum !== "number" || typeof maximum !== "number") return null;
  const scale = { low: Math.min(0, minimum), high: Math.max(0, maximum), room };
  return scale.low === scale.high ? null : scale;
}

export function barOf(value: Json | undefined, { low, high }: Pick<BarScale, "low" | "high">): Bar | null {
  if (typeof value !== "number") return null;
  const unit = BAR_WIDTH / (high - low);
  const zero = -low * unit;
  const length = value === 0 ? 0 : Math.max(SHORTEST, Math.abs(value) * unit);
  return { zero, start: value < 0 ? zero - length : zero, length };
}

/** As a background, measured from the right, where the number ends. */
export function drawBar(cell: HTMLElement, value: Json | undefined, scale: BarScale): void {
  const { zero, start, length } = barOf(value, scale) ?? barOf(0, scale)!;
  const place = (name: string, end: number) =>
    cell.style.setProperty(name, `${(scale.room + BAR_WIDTH - end).toFixed(1)}px`);
  place("--bar-zero", zero + 1);
  place("--bar-end", start + length);
  cell.style.setProperty("--bar-length", `${length.toFixed(1)}px`);
  cell.classList.toggle("less", typeof value === "number" && value < 0);
}
