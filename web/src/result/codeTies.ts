/** Finds the lines of a query that a phrase of the question became. Pure functions. */

const OPENINGS: [opening: RegExp, section: Section][] = [
  [/^SELECT\b/i, "select"],
  [/^(FROM|ON|((LEFT|INNER|CROSS|FULL|RIGHT)( OUTER)? )?JOIN)\b/i, "from"],
  [/^(WHERE|HAVING)\b/i, "where"],
  [/^GROUP BY\b/i, "group"],
  [/^ORDER BY\b/i, "order"],
  [/^LIMIT\b/i, "limit"],
];

type Section = "select" | "from" | "where" | "group" | "order" | "limit";
/** `ORDER BY` can name an alias instead of the column. If no line matches, all lines of this clause count. */
const ORDER: readonly Section[] = ["order"];
const ANYWHERE: readonly Section[] = ["select", "from", "where", "group", "order", "limit"];

/** An alias in the result is not a name of the data. */
const ALIAS = / AS "[^"]*"/i;

interface Line {
  text: string;
  section: Section;
}

/** The numbers of the lines that contain the part, counted from 0; empty if there is none. */
export function tiedLines(meaning: string, code: string): number[] {
  const lines = linesOf(code);
  const found = meaning.split("; ").flatMap((part) => {
    const [sections, words] = wanted(part);
    const within = (allowed: readonly Section[]) =>
      lines.flatMap((line, i) =>
        allowed.includes(line.section) && words.some((word) => word.test(line.text)) ? [i] : [],
      );
    const there = within(sections);
    if (there.length || sections !== ORDER) return there.length ? there : within(ANYWHERE);
    return lines.flatMap((line, i) => (line.section === "order" ? [i] : []));
  });
  return [...new Set(found)].sort((a, b) => a - b);
}

/** Queries are formatted with one clause or item per line. */
function linesOf(code: string): Line[] {
  let section: Section = "select";
  return code.split("\n").map((text) => {
    section = OPENINGS.find(([opening]) => opening.test(text.trim()))?.[1] ?? section;
    return { text: text.replace(ALIAS, ""), section };
  });
}

/** The clauses in which a part of a plan can occur, and its names there. */
function wanted(part: string): [sections: readonly Section[], words: RegExp[]] {
  if (/^(only )?the first\b/.test(part)) return [["limit"], [/\bLIMIT\b/i]];
  if (part.includes("count(rows)") && !part.startsWith("sorted")) return [["select"], [/\bCOUNT\(\*\)/i]];
  const words = namesIn(part).map(
    (name) => new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(name)}(?![\\p{L}\\p{N}_])`, "iu"),
  );
  if (part.startsWith("for each ")) return [["group"], words];
  if (part.startsWith("sorted by ")) return [ORDER, words];
  if (/ (=|!=|<|<=|>|>=|in|is|not|from|contains|without|starts|ends|between) /.test(part)) return [["where"], words];
  return [part.includes(".") || part.includes('"') ? ["select", "group"] : ["from"], words];
}

/** The columns that a meaning names. A name without a dot is a table. */
function namesIn(part: string): string[] {
  const qualified = [...part.matchAll(/[\p{L}_][\p{L}\p{N}_]*\.([\p{L}_][\p{L}\p{N}_]*)/gu)].map((match) => match[1]!);
  const quoted = [...part.matchAll(/"([^"]+)"/g)].map((match) => match[1]!);
  const alone = /^[\p{L}_][\p{L}\p{N}_]*$/u.test(part) ? [part] : [];
  return [...qualified, ...quoted, ...alone];
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
