import type { StepKind } from "../api/types";

interface NamedStep {
  id: string;
  /** The plan's own name for the step. */
  title?: string | null;
  source: string | null;
}

/** The name of a step for people: the plan's name for it, or that of its kind, or its id. */
export function stepName({ id, title, source }: NamedStep, kind: StepKind | undefined): string {
  if (title) return title;
  if (!kind?.title) return readable(id.split("/").pop() ?? id);
  return kind.rows_from === "source" && source ? `${kind.title} ${source}` : kind.title;
}

/** One or two words that say what a step is. */
export function kindLabel(name: string, kind: StepKind | undefined): string {
  return kind?.label ?? name;
}

export function readable(name: string): string {
  const words = name.replace(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
