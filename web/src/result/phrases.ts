import type { Binding } from "../api/types";

export interface Phrase {
  text: string;
  meaning: string | null;
  /** The index of the binding; null for text between phrases. */
  binding: number | null;
}

/**
 * Splits the question into phrases, each with its binding. Phrases are in the order of the question; bindings whose phrase
 * is not in the question word for word follow at the end.
 */
export function phrases(question: string, bindings: readonly Binding[]): Phrase[] {
  const lower = question.toLowerCase();
  const placed: { start: number; end: number; meaning: string; binding: number }[] = [];
  const notInQuestion: Phrase[] = [];
  let after = 0;
  for (const [binding, { phrase, meaning }] of bindings.entries()) {
    const start = free(lower, phrase.toLowerCase(), placed, after);
    if (start < 0) notInQuestion.push({ text: phrase, meaning, binding });
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
  return [...found, ...notInQuestion];
}

/** The words between phrases. Punctuation right after a phrase stays with the phrase. */
function push(found: Phrase[], text: string): void {
  const before = found.at(-1);
  const [mark = ""] = (before && /^[^\p{L}\p{N}\s]+/u.exec(text)) ?? [];
  if (before) before.text += mark;
  const words = text.slice(mark.length).trim();
  if (words) found.push({ text: words, meaning: null, binding: null });
}

/** The first unused place where the phrase occurs as whole words: from `after` on, else anywhere. */
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
