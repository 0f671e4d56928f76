import { pythonLanguage } from "@codemirror/lang-python";
import { PostgreSQL } from "@codemirror/lang-sql";
import { yamlLanguage } from "@codemirror/lang-yaml";
import { highlightCode, tagHighlighter, tags } from "@lezer/highlight";
import { isKnownLanguage } from "./languages";

const PARSERS = { sql: PostgreSQL.language.parser, python: pythonLanguage.parser, yaml: yamlLanguage.parser };

const STYLES = tagHighlighter([
  {
    tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.propertyName, tags.definition(tags.propertyName)],
    class: "k",
  },
  { tag: [tags.function(tags.variableName), tags.standard(tags.name), tags.typeName, tags.className], class: "f" },
  { tag: [tags.string, tags.special(tags.string)], class: "s" },
  { tag: [tags.number, tags.bool, tags.null], class: "n" },
  { tag: [tags.comment, tags.punctuation], class: "c" },
]);

/** Splits code into pieces, each with the CSS class of its token. */
export function highlight(text: string, language: string | null): [piece: string, style: string][] {
  if (language === null || !isKnownLanguage(language)) return plain(text);
  const pieces: [string, string][] = [];
  highlightCode(
    text,
    PARSERS[language].parse(text),
    STYLES,
    (piece, style) => pieces.push([piece, style]),
    () => pieces.push(["\n", ""]),
  );
  return pieces;
}

function plain(text: string): [piece: string, style: string][] {
  return text.split("\n").flatMap((line, i): [string, string][] =>
    i
      ? [
          ["\n", ""],
          [line, ""],
        ]
      : [[line, ""]],
  );
}
