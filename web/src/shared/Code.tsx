import { Suspense, use, useMemo } from "react";
import { languageName } from "./languages";

type Highlight = typeof import("./highlight").highlight;
let loading: Promise<Highlight> | undefined;

interface Props {
  text: string;
  /** Null if it is not known. */
  language: string | null;
  /** The lines to highlight, counted from 0. */
  lit?: ReadonlySet<number>;
  /** Called with the line under the pointer, and with null when the pointer leaves. */
  onLine?: (line: number | null) => void;
}

/** Code as plain text. It is coloured as soon as the highlighter has been loaded. */
export function Code({ text, language, lit, onLine }: Props) {
  return (
    <pre
      className="code"
      tabIndex={0}
      aria-label={language ? `${languageName(language)} code` : "Code"}
      onMouseLeave={onLine && (() => onLine(null))}
    >
      <Suspense fallback={text}>
        <Coloured text={text} language={language} lit={lit} onLine={onLine} />
      </Suspense>
    </pre>
  );
}

function Coloured({ text, language, lit, onLine }: Props) {
  loading ??= import("./highlight").then((module) => module.highlight);
  const highlight = use(loading);
  const lines = useMemo(() => linesOf(highlight(text, language)), [highlight, text, language]);
  return lines.map((pieces, line) => (
    <span key={line} className={lit?.has(line) ? "ln lit" : "ln"} onMouseEnter={onLine && (() => onLine(line))}>
      {pieces.map(([piece, style], i) =>
        style ? (
          <span key={i} className={style}>
            {piece}
          </span>
        ) : (
          piece
        ),
      )}
      {line < lines.length - 1 && "\n"}
    </span>
  ));
}

function linesOf(pieces: [piece: string, style: string][]): [piece: string, style: string][][] {
  const lines: [string, string][][] = [[]];
  for (const piece of pieces) {
    if (piece[0] === "\n") lines.push([]);
    else lines.at(-1)!.push(piece);
  }
  return lines;
}
