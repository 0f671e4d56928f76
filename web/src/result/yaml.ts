import type { Json } from "../api/types";

/** Writes JSON as YAML for people to read. Empty and false values are the defaults and are left out. Pure. */
export function yamlOf(value: Json): string {
  return lines(value).join("\n");
}

function lines(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => nested("- ", "  ", item));
  if (isRecord(value)) {
    return Object.entries(value)
      .filter(([, item]) => says(item))
      .flatMap(([name, item]) =>
        isLeaf(item) ? [`${name}: ${leaf(item)}`] : [`${name}:`, ...lines(item).map((line) => `  ${line}`)],
      );
  }
  return [leaf(value)];
}

function nested(first: string, rest: string, value: Json): string[] {
  return lines(value).map((line, i) => (i ? rest : first) + line);
}

function isRecord(value: Json): value is { [key: string]: Json } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function isLeaf(value: Json): boolean {
  return value === null || typeof value !== "object";
}

function says(value: Json): boolean {
  return value !== null && value !== false && !(typeof value === "object" && Object.keys(value).length === 0);
}

/** Quotes text that YAML would read as another type. */
function leaf(value: Json): string {
  return typeof value === "string" && !/^[\p{L}_][\p{L}\p{N}_. ]*$/u.test(value)
    ? JSON.stringify(value)
    : String(value);
}
