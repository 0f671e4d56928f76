import type { Json } from "../api/types";

/** Places a line chart in a given width. Pure: the component only writes what stands here. */

export interface LinePoint {
  label: string;
  value: number | null;
  /** The value as the table shows it. */
  text: string;
}

export interface Line {
  name: string;
  points: LinePoint[];
}

export interface Mark {
  x: number;
  y: number;
  text: string;
  textX: number;
  textY: number;
  anchor: "start" | "middle" | "end";
}

export interface LineLayout {
  height: number;
  yTicks: { y: number; text: string }[];
  xTicks: { x: number; text: string }[];
  paths: string[];
  /** The highest, the lowest and the last point of a single line; the ends of several lines. */
  marks: Mark[];
  /** The place of each label on the horizontal axis. */
  places: number[];
  y: (value: number) => number;
}

const HEIGHT = 208;
const TOP = 26;
const BOTTOM = 24;
const LETTER = 6.6;
const TICKS = 4;
const TICK_ROOM = 76;
const YEARS_FOR_YEAR_TICKS = 2;

/** `positions`: where each label belongs on the axis, in any unit; labels without one are spaced evenly. */
export function lineLayout(lines: Line[], positions: (number | null)[], width: number, percent = false): LineLayout {
  const values = lines.flatMap((line) => line.points.map((point) => point.value)).filter((value) => value !== null);
  const ticks = niceTicks(Math.min(0, ...values), Math.max(0, ...values));
  const short = ticks.some((tick) => Math.abs(tick) >= 100_000);
  const tickTexts = ticks.map((tick) => tickText(tick, percent, short));
  const left = Math.max(...tickTexts.map((text) => text.length)) * LETTER + 12;
  const several = lines.length > 1;
  const longest = Math.max(...lines.map((line) => line.name.length));
  const right = width - (several ? Math.min(120, longest * LETTER + 14) : 14);
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const y = (value: number) => TOP + ((high - value) / (high - low || 1)) * (HEIGHT - TOP - BOTTOM);
  const places = placed(positions, left, right);
  return {
    height: HEIGHT,
    yTicks: ticks.map((tick, i) => ({ y: y(tick), text: tickTexts[i] ?? "" })),
    xTicks: xTicks(lines[0]?.points.map((point) => point.label) ?? [], places, right - left),
    paths: lines.map((line) => pathOf(line.points, places, y)),
    marks: several ? ends(lines, places, y) : extremes(lines[0]?.points ?? [], places, y, left, width),
    places,
    y,
  };
}

function placed(positions: (number | null)[], left: number, right: number): number[] {
  const even = positions.some((position) => position === null);
  const at = positions.map((position, i) => (even ? i : (position ?? i)));
  const [first, last] = [Math.min(...at), Math.max(...at)];
  return at.map((position) => left + ((position - first) / (last - first || 1)) * (right - left));
}

/** A missing value leaves a gap. */
function pathOf(points: LinePoint[], places: number[], y: (value: number) => number): string {
  let pen = "M";
  return points
    .map(({ value }, i) => {
      if (value === null) {
        pen = "M";
        return "";
      }
      const piece = `${pen}${places[i]!.toFixed(1)} ${y(value).toFixed(1)}`;
      pen = "L";
      return piece;
    })
    .join("");
}

export function niceTicks(low: number, high: number): number[] {
  const span = high - low || Math.abs(high) || 1;
  const rough = span / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const first = Math.floor(low / step);
  const last = Math.ceil((low === high ? low + span : high) / step);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

const SHORT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 2 });
const PLAIN = new Intl.NumberFormat("en-US", { maximumFractionDigits: 4 });

/** `short`: as thousands or millions, which all ticks of an axis are if one of them is. */
function tickText(value: number, percent: boolean, short: boolean): string {
  const shown = percent ? value * 100 : value;
  const text = (short ? SHORT : PLAIN).format(shown).replace("-", "−");
  return percent && value !== 0 ? `${text} %` : text;
}

/** Years where the labels cover several, else as many labels as fit. */
function xTicks(labels: string[], places: number[], room: number): { x: number; text: string }[] {
  const years = labels.map((label) => /^(\d{4})-\d\d/.exec(label)?.[1] ?? null);
  const firsts = years.flatMap((year, i) => (year !== null && year !== years[i - 1] ? [i] : []));
  const most = Math.max(2, Math.floor(room / TICK_ROOM));
  const byYear = years.every((year) => year !== null) && firsts.length > YEARS_FOR_YEAR_TICKS;
  const candidates = byYear ? firsts : labels.map((_, i) => i);
  const every = Math.ceil(candidates.length / most);
  return candidates
    .filter((_, i) => i % every === 0)
    .map((i) => ({ x: places[i]!, text: (byYear ? years[i] : labels[i]) ?? "" }));
}

function extremes(
  points: LinePoint[],
  places: number[],
  y: (v: number) => number,
  left: number,
  width: number,
): Mark[] {
  const known = points.flatMap((point, i) => (point.value === null ? [] : [{ ...point, value: point.value, i }]));
  if (!known.length) return [];
  const high = known.reduce((best, point) => (point.value > best.value ? point : best));
  const low = known.reduce((best, point) => (point.value < best.value ? point : best));
  const last = known.at(-1)!;
  const mark = (point: typeof high, text: string, above: boolean): Mark => {
    const x = places[point.i]!;
    const half = (text.length * LETTER) / 2;
    const anchor = x - half < left ? "start" : x + half > width ? "end" : "middle";
    const textY = y(point.value) + (above ? -9 : 19);
    return { x, y: y(point.value), text, textX: x, textY, anchor };
  };
  const found = [mark(high, `${high.label}, ${high.text}`, true)];
  if (low.i !== high.i) found.push(mark(low, `${low.label}, ${low.text}`, false));
  const end = mark(last, last.text, last.value >= low.value + (high.value - low.value) / 2);
  if (last.i !== high.i && last.i !== low.i && found.every((other) => isApart(other, end))) found.push(end);
  return found;
}

function isApart(one: Mark, other: Mark): boolean {
  const room = ((one.text.length + other.text.length) * LETTER) / 2 + 8;
  return Math.abs(one.x - other.x) > room || Math.abs(one.textY - other.textY) > 16;
}

/** The names of several lines stand at their ends, moved apart where they would overprint each other. */
function ends(lines: Line[], places: number[], y: (value: number) => number): Mark[] {
  const found = lines.flatMap((line): Mark[] => {
    const at = line.points.findLastIndex((point) => point.value !== null);
    if (at < 0) return [];
    const [x, top] = [places[at]!, y(line.points[at]!.value!)];
    return [{ x, y: top, text: line.name, textX: x + 8, textY: top + 4, anchor: "start" }];
  });
  let least = -Infinity;
  for (const mark of [...found].sort((a, b) => a.textY - b.textY)) {
    mark.textY = Math.max(mark.textY, least + 14);
    least = mark.textY;
  }
  return found;
}

/** Where a value of the label column belongs on a time axis; null if it is not a moment or number. */
export function positionOf(value: Json, type: string): number | null {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "string" || !/date|time/.test(type)) return null;
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? null : moment;
}
