import type { Binding } from "../api/types";

export interface Phrase {
  text: string;
  meaning: string | null;
  /** Which of the bindings it is. */
  binding: number | null;
}

/** The question in pieces, each with what it was bound to. Phrases come in the order of the question; those that are not in it word for word follow at its end. */
export function phrases(question: string, bindings: readonly Binding[]): Phrase[] {
  const lower = question.toLowerCase();
  const placed: { start: number; end: number; meaning: string; binding: number }[] = [];
  const elsewhere: Phrase[] = [];
  let after = 0;
  for (const [binding, { phrase, meaning }] of bindings.entries()) {
    const start = free(lower, phrase.toLowerCase(), placed, after);
    if (start < 0) elsewhere.push({ text: phrase, meaning, binding });
    else {
      after = start + phrase.length;
      placed.push({ start, end: after, meaning, binding });
    }
  }
  placed.sort((a, b) => a.start - b.start);
  const found: Phrase[] = [];
  let at = 0;
  for (const { start, end, meaning, binding } of placed) {
    push(found, question.slice(at, start));
    found.push({ text: question.slice(start, end), meaning, binding });
    at = end;
  }
  push(found, question.slice(at));
  return [...found, ...elsewhere];
}

/** Words between phrases; a mark right after a phrase stays with it. */
function push(found: Phrase[], text: string): void {
  const before = found.at(-1);
  const [mark = ""] = (before && /^[^\p{L}\p{N}\s]+/u.exec(text)) ?? [];
  if (before) before.text += mark;
  const words = text.slice(mark.length).trim();
  if (words) found.push({ text: words, meaning: null, binding: null });
}

/** The first free place at which the phrase stands as whole words, from `after` on, else anywhere. */
function free(text: string, phrase: string, placed: { start: number; end: number }[], after: number): number {
  const fits = (start: number) => {
    const end = start + phrase.length;
    const whole = !isLetter(text[start - 1]) && !isLetter(text[end]);
    return whole && !placed.some((other) => start < other.end && other.start < end);
  };
  for (const from of phrase ? [after, 0] : []) {
    let start = text.indexOf(phrase, from);
    while (start >= 0 && !fits(start)) start = text.indexOf(phrase, start + 1);
    if (start >= 0) return start;
  }
  return -1;
}

function isLetter(char: string | undefined): boolean {
  return char !== undefined && /[\p{L}\p{N}]/u.test(char);
}
