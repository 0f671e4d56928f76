/** A sentence with the phrase in which it differs from its siblings. */
export interface Differing {
  before: string;
  phrase: string;
  after: string;
}

/** Marks in each sentence the words between what all sentences begin with and what all end with. Pure. */
export function differing(sentences: readonly string[]): Differing[] {
  const split = sentences.map((sentence) => sentence.split(/\s+/));
  const shortest = Math.min(...split.map((words) => words.length));
  if (split.length < 2) return sentences.map((sentence) => ({ before: sentence, phrase: "", after: "" }));
  const same = (at: (words: string[]) => string | undefined) => new Set(split.map(at)).size === 1;
  let first = 0;
  while (first < shortest && same((words) => words[first])) first++;
  let last = 0;
  while (last < shortest - first && same((words) => words.at(-1 - last))) last++;
  return split.map((words) => ({
    before: words.slice(0, first).join(" "),
    phrase: words.slice(first, words.length - last).join(" "),
    after: words.slice(words.length - last).join(" "),
  }));
}
