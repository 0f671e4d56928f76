import type { Json } from "../api/types";

/** Bars beside numbers that are changes or shares. All bars of a column start from the same zero line. */

export interface BarScale {
  low: number;
  high: number;
  /** The width of the numbers to the right of the bars. */
  room: number;
}

/** The width of the area for bars in a cell. */
export const BAR_WIDTH = 76;
const SHORTEST = 1;

export interface Bar {
  /** The offset of the zero line from the left of the area. */
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

/** The bar as a CSS background, positioned from the right, where the number ends. */
export function drawBar(cell: HTMLElement, value: Json | undefined, scale: BarScale): void {
  const { zero, start, length } = barOf(value, scale) ?? barOf(0, scale)!;
  const place = (name: string, end: number) =>
    cell.style.setProperty(name, `${(scale.room + BAR_WIDTH - end).toFixed(1)}px`);
  place("--bar-zero", zero + 1);
  place("--bar-end", start + length);
  cell.style.setProperty("--bar-length", `${length.toFixed(1)}px`);
  cell.classList.toggle("less", typeof value === "number" && value < 0);
}
