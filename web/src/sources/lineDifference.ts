export type Sign = "+" | "-";

/** The removed and added lines, without the unchanged ones. */
export function lineDifference(before: string, after: string): [Sign, string][] {
  const [old, young] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < Math.min(old.length, young.length) && old[start] === young[start]) start++;
  let end = 0;
  while (end < Math.min(old.length, young.length) - start && old.at(-1 - end) === young.at(-1 - end)) end++;
  const removed = old.slice(start, old.length - end).map((line): [Sign, string] => ["-", line]);
  const added = young.slice(start, young.length - end).map((line): [Sign, string] => ["+", line]);
  return [...removed, ...added];
}
