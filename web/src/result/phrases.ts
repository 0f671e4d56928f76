import type { Binding } from "../api/types";

export interface Phrase {
  text: string;
  meaning: string | null;
}

/** The question in pieces, each with what it was bound to. Phrases that are not in it word for word follow at its end. */
export function phrases(question: string, bindings: readonly Binding[]): Phrase[] {
  const lower = question.toLowerCase();
  const placed: { start: number; end: number; meaning: string }[] = [];
  const elsewhere: Phrase[] = [];
  for (const { phrase, meaning } of bindings) {
    const start = free(lower, phrase.toLowerCase(), placed);
    if (start < 0) elsewhere.push({ text: phrase, meaning });
    else placed.push({ start, end: start + phrase.length, meaning });
  }
  placed.sort((a, b) => a.start - b.start);
  const found: Phrase[] = [];
  let at = 0;
  for (const { start, end, meaning } of placed) {
    push(found, question.slice(at, start));
    found.push({ text: question.slice(start, end), meaning });
    at = end;
  }
  push(found, question.slice(at));
  return [...found, ...elsewhere];
}

function push(found: Phrase[], text: string): void {
  if (text.trim()) found.push({ text: text.trim(), meaning: null });
}

function free(text: string, phrase: string, placed: { start: number; end: number }[]): number {
  let start = phrase ? text.indexOf(phrase) : -1;
  while (start >= 0 && placed.some((other) => start < other.end && other.start < start + phrase.length)) start = text.indexOf(phrase, start + 1);
  return start;
}
