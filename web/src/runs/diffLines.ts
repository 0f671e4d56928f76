export type DiffSign = "+" | "-" | " " | "…";

/** The lines of a unified diff, without the two of its head; a gap stands where lines were left out. */
export function diffLines(text: string): [DiffSign, string][] {
  const lines = text.split("\n").slice(2);
  return lines.flatMap((line, i): [DiffSign, string][] => {
    if (line.startsWith("@@")) return i ? [["…", ""]] : [];
    return [[line[0] as DiffSign, line.slice(1)]];
  });
}
