/** A part of a sentence, and whether its siblings say something else there. */
export interface Part {
  text: string;
  differs: boolean;
}

const FLEETING = 1;
/** A run of common words as short as this between two marked phrases is marked with them. */

/** Marks in each sentence the words that not all sentences share. Pure. */
export function differing(sentences: readonly string[]): Part[][] {
  // A comma or full stop is a word of its own: "tracks," and "tracks" are the same word.
  const split = sentences.map((sentence) => sentence.split(/\s+|(?=[,.](?:\s|$))/));
  const shared = split.reduce((common, words) => longestCommon(common, words));
  return split.map((words) => partsOf(words, shared));
}

function partsOf(words: string[], shared: string[]): Part[] {
  let at = 0;
  const marks = words.map((word) => {
    if (word !== shared[at]) return true;
    at++;
    return false;
  });
  const parts: Part[] = [];
  words.forEach((word, i) => {
    const fleeting = !marks[i] && marks[i - 1] && marks.slice(i + 1, i + 1 + FLEETING).includes(true);
    const differs = Boolean(marks[i] || fleeting);
    const last = parts.at(-1);
    const isStop = word === "," || word === ".";
    // A stop belongs to the word before it, and is never what differs.
    if (last && (last.differs === differs || isStop)) last.text += isStop ? word : ` ${word}`;
    else parts.push({ text: word, differs });
  });
  return parts;
}

/** The longest sequence of words that both hold in this order. */
function longestCommon(one: string[], other: string[]): string[] {
  const lengths = Array.from({ length: one.length + 1 }, () => new Array<number>(other.length + 1).fill(0));
  const length = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = one.length - 1; i >= 0; i--)
    for (let j = other.length - 1; j >= 0; j--)
      lengths[i]![j] = one[i] === other[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
  const common: string[] = [];
  for (let i = 0, j = 0; i < one.length && j < other.length; ) {
    if (one[i] === other[j]) {
      common.push(one[i] ?? "");
      i++;
      j++;
    } else if (length(i + 1, j) >= length(i, j + 1)) i++;
    else j++;
  }
  return common;
}
