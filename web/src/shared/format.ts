/** Formats counts, durations, dates and ids for display. Pure functions. */

const MINUS = "−";

/** Created once, because creating a formatter takes much longer than formatting with it. */
const NUMBER = new Intl.NumberFormat("en-US");
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

export function count(value: number | bigint): string {
  return NUMBER.format(value).replace("-", MINUS);
}

/** A count in short form for narrow places: `1.6 M`. */
export function roundCount(value: number): string {
  return value < 1e6 ? count(value) : `${(value / 1e6).toFixed(value < 1e8 ? 1 : 0)} M`;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(2)} s`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes} min ${Math.round((ms - minutes * 60_000) / 1_000)} s`;
}

/** A number of bytes in a fitting unit: `1.2 kB`, `12 MB`. */
export function bytes(size: number): string {
  const [unit, name] = BYTE_UNITS.find(([least]) => size >= least) ?? [1, "bytes"];
  const value = size / unit;
  return `${value < 10 && unit > 1 ? value.toFixed(1) : count(Math.round(value))} ${name}`;
}

const BYTE_UNITS: [number, string][] = [
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
];

export function money(usd: number | null): string {
  if (usd === null) return "price not known";
  return `${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)} USD`;
}

const DAY = 86_400_000;

/** The time since a moment, in the largest fitting unit: `14 min`. */
export function age(iso: string, now = Date.now()): string {
  const ms = Math.max(0, now - Date.parse(iso));
  if (ms < 60_000) return "under a minute";
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  if (ms < DAY) return `${Math.floor(ms / 3_600_000)} h`;
  return plural(Math.floor(ms / DAY), "day");
}

export function clock(iso: string): string {
  return CLOCK.format(new Date(iso));
}

/** A moment of today as its time, of this week as its weekday, otherwise as its date. */
export function moment(iso: string, now = new Date()): string {
  const then = new Date(iso);
  if (then.toDateString() === now.toDateString()) return clock(iso);
  const options: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
  if (now.getTime() - then.getTime() < 7 * DAY) options.weekday = "short";
  if (now.getFullYear() !== then.getFullYear()) options.year = "numeric";
  return then.toLocaleDateString("en-GB", options).replace(",", "");
}

/** A long id, shortened to its beginning and end. */
export function shortId(id: string): string {
  const [prefix, rest] = id.includes("_") ? id.split("_") : ["", id];
  return `${prefix ? `${prefix}_` : ""}${(rest ?? "").slice(-6)}`;
}

/** The first bytes of a hash, in groups of four. */
export function fingerprint(hash: string): string {
  return (hash.split(":").pop() ?? "").slice(0, 12).replace(/(.{4})(?=.)/g, "$1 ");
}

export function percent(fraction: number, decimals = 1): string {
  return `${(fraction * 100).toFixed(decimals)} %`;
}

/** The heading for a date in a list: Today, Yesterday, Last week, then the month. */
export function dayGroup(iso: string, now = new Date()): string {
  const start = new Date(now).setHours(0, 0, 0, 0);
  const then = Date.parse(iso);
  if (then >= start) return "Today";
  if (then >= start - DAY) return "Yesterday";
  if (then >= start - 7 * DAY) return "Last week";
  return new Date(iso).toLocaleDateString("en-GB", { month: "long", year: "numeric" });
}
