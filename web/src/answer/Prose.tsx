import { Suspense } from "react";
import type { Answer, NumberLink } from "../api/types";
import { later } from "../shared/later";
import { pieces } from "./numbers";
import { valueSentence } from "./valueSentence";

const Markdown = later(() => import("../shared/Markdown"));

/** The text of an answer. Each checked number links to the cell that it comes from. */
export function Prose({
  answer,
  onCell,
}: {
  answer: Answer;
  onCell?: (row: number | null, column: number | null) => void;
}) {
  const { provenance } = answer;
  // A markdown table that was asked for follows the sentences, after an empty line.
  const [text, table] = provenance.format?.markdown ? parted(answer.text) : [answer.text, null];
  const show = (event: React.MouseEvent, link: NumberLink) => {
    event.preventDefault();
    onCell?.(link.row, link.column);
  };
  const sentence = valueSentence(answer);
  if (sentence)
    return (
      <div className="prose">
        <p>{sentence}</p>
      </div>
    );
  if (answer.kind === "text" && !provenance.links.length) {
    return (
      <div className="prose">
        <Suspense fallback={<p>{text}</p>}>
          <Markdown text={text} />
        </Suspense>
      </div>
    );
  }
  return (
    <div className="prose">
      <p>
        {pieces(text, provenance.links).map(({ text: piece, link }, i) =>
          link ? (
            <a key={i} className="v" href="#cell" title={link.basis} onClick={(event) => show(event, link)}>
              {piece}
            </a>
          ) : (
            piece
          ),
        )}
      </p>
      {table && (
        <Suspense fallback={<pre>{table}</pre>}>
          <Markdown text={table} />
        </Suspense>
      )}
    </div>
  );
}

function parted(text: string): [string, string | null] {
  const end = text.indexOf("\n\n|");
  return end < 0 ? [text, null] : [text.slice(0, end), text.slice(end + 2)];
}
