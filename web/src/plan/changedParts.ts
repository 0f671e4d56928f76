import type { PlanPart } from "../api/types";

/** The kinds of parts whose words differ between two plans. */
export function changedParts(before: readonly PlanPart[], after: readonly PlanPart[]): ReadonlySet<string> {
  const words = (parts: readonly PlanPart[], kind: string) =>
    parts
      .filter((part) => part.kind === kind)
      .map((part) => part.label)
      .join("\n");
  const kinds = new Set([...before, ...after].map((part) => part.kind));
  return new Set([...kinds].filter((kind) => words(before, kind) !== words(after, kind)));
}
