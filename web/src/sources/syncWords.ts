import type { OktaSync } from "../api/types";
import { count, plural } from "../shared/format";

/** What a sync found, in words. Empty as long as nothing is known. */
export function found({
  kind,
  rows,
  added,
  changed,
  removed,
}: Pick<OktaSync, "kind" | "rows" | "added" | "changed" | "removed">): string {
  if (added === null && changed === null && removed === null) return "";
  const parts: [number | null, string][] = [
    [added, "added"],
    [changed, "changed"],
    [removed, "removed"],
  ];
  const told = parts.filter(([number]) => number).map(([number, word]) => `${count(number ?? 0)} ${word}`);
  const nothing = kind === "full" && rows ? `${plural(rows, "row")} read` : "nothing new";
  return told.join(", ") || nothing;
}
