// Values as people read them, by the format that comes with an answer. The command line writes the same.

const MINUS = "−";

export function formatSpec(answer) {
  return answer.provenance.format?.columns ?? answer.columns.map(({ name, type }) => ({ column: name, header: name, unit: null, format: defaultFormat(type) }));
}

export function isRight(column) {
  return column.format.kind === "number";
}

// Text for a value, or null for null.
export function formatValue(value, how) {
  if (value === null || value === undefined) return null;
  if (how.kind === "number" && (typeof value === "number" || typeof value === "bigint")) return formatNumber(value, how);
  if (how.kind === "date" && typeof value === "string") return formatDate(value, how.style);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value, (_, v) => (typeof v === "bigint" ? Number(v) : v));
}

export function formatCount(count) {
  return new Intl.NumberFormat("en-US").format(count);
}

export function formatDuration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export function formatAge(iso, now = Date.now()) {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000);
  for (const [name, length] of [["day", 86400], ["h", 3600], ["min", 60]]) {
    const count = Math.floor(seconds / length);
    if (count) return `${count} ${name}${name === "day" && count > 1 ? "s" : ""} old`;
  }
  return "less than a minute old";
}

function defaultFormat(type) {
  if (type === "integer" || type === "number") return { kind: "number", decimals: type === "integer" ? 0 : 2, grouped: true, percent: false };
  return type === "date" || type === "datetime" ? { kind: "date", style: type === "date" ? "day" : "second" } : { kind: "text" };
}

function formatNumber(value, { decimals, grouped, percent }) {
  const scaled = percent ? Number(value) * 100 : value;
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals, useGrouping: grouped };
  const text = new Intl.NumberFormat("en-US", digits).format(scaled < 0 ? -scaled : scaled);
  return (scaled < 0 && /[1-9]/.test(text) ? MINUS : "") + text + (percent ? " %" : "");
}

function formatDate(value, style) {
  const parts = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}:\d{2})(:\d{2})?)?/.exec(value);
  if (!parts) return value;
  const [, year, month, day, minute = "00:00", second = ":00"] = parts;
  switch (style) {
    case "year": return year;
    case "quarter": return `${year}-Q${Math.ceil(Number(month) / 3)}`;
    case "month": return `${year}-${month}`;
    case "minute": return `${year}-${month}-${day} ${minute}`;
    case "second": return `${year}-${month}-${day} ${minute}${second}`;
    default: return `${year}-${month}-${day}`;
  }
}
