import type { Answer } from "../api/types";

/**
 * The sentence below a single value. "Average total: 5.65." only repeats the number, so what was understood stands there
 * instead: "The average total of the invoices." Null if the text says more. Pure.
 */
export function valueSentence({ kind, text, provenance }: Pick<Answer, "kind" | "text" | "provenance">): string | null {
  const [, rest] = /^Give (the .+)$/s.exec(provenance.understood ?? "") ?? [];
  const onlyRepeats = /^[^:.]+: \S+( \S+)?\.$/.test(text) && provenance.links.length <= 1;
  return kind === "value" && rest && onlyRepeats ? `T${rest.slice(1)}` : null;
}
