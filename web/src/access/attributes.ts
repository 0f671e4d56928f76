export type Attributes = Record<string, string[]>;

/** Attributes as they are written in the form: one in a line, `city: Bergen, Oslo`. */
export function written(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, values]) => `${name}: ${values.join(", ")}`)
    .join("\n");
}

/** Reads them back. A line that is no attribute is returned as text, so that nothing is dropped in silence. */
export function readAttributes(text: string): Attributes | { unread: string } {
  const found: [string, string[]][] = [];
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (!line) continue;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).trim();
    const values = line.slice(colon + 1).split(",");
    const kept = values.map((value) => value.trim()).filter(Boolean);
    if (!name || !kept.length || found.some(([known]) => known === name)) return { unread: line };
    found.push([name, kept]);
  }
  return Object.fromEntries(found);
}

export function isUnread(read: Attributes | { unread: string }): read is { unread: string } {
  return typeof read.unread === "string";
}
