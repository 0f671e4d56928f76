export type DiffSign = "+" | "-" | " " | "…";

/** Parses a unified diff without its two header lines. A gap marks where lines were left out. */
export function diffLines(text: string): [DiffSign, string][] {
  const lines = text.split("\n").slice(2);
  return lines.flatMap((line, i): [DiffSign, string][] => {
    if (line.startsWith("@@")) return i ? [["…", ""]] : [];
    return [[line[0] as DiffSign, line.slice(1)]];
  });
}
