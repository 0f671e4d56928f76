import { ChevronRight, Hand } from "lucide-react";
import type { Answer, Choice } from "../api/types";
import { Status } from "../shared/Status";
import { useStore } from "../shared/store";
import { remembering, wordToRemember } from "./remembering";

interface Props {
  answer: Answer;
  /** The source that can remember the choice; null if several sources were asked. */
  source: string | null;
  onChoose: (choice: number) => void;
  onOther: () => void;
}

/** A question back: its choices, a key for each, and a way to remember the choice. */
export function ClarifyCard({ answer, source, onChoose, onOther }: Props) {
  const { choices } = answer;
  const readings = choices.filter((choice) => choice.plan !== null).length;
  const [, first, rest] = /^(.+?[.?])\s+(.+)$/s.exec(answer.text) ?? [null, answer.text, ""];
  const word = source && wordToRemember(choices);
  const remember = useStore(remembering) && word !== null;
  return (
    <section className="clarify card" aria-label="Clarifying question">
      <header>
        <Hand className="i" aria-hidden />
        <div>
          <h2>{first}</h2>
          {rest && <p>{rest}</p>}
          {readings > 1 && <p>{readings} readings are possible. Pick the one you mean.</p>}
        </div>
      </header>
      {choices.map((choice, i) => (
        <button key={choice.id} type="button" className="choice" onClick={() => onChoose(choice.id)}>
          <kbd>{i + 1}</kbd>
          <span className="grow">
            <b>{choice.label}</b>
            <Detail choice={choice} remember={remember} />
          </span>
          <ChevronRight className="i i-s" aria-hidden />
        </button>
      ))}
      <button type="button" className="choice" onClick={onOther}>
        <kbd>{choices.length + 1}</kbd>
        <span className="grow">
          <b>{choices.length ? "Something else" : "Ask in other words"}</b>
          {choices.length > 0 && <span className="d">Ask in other words</span>}
        </span>
        <ChevronRight className="i i-s" aria-hidden />
      </button>
      {choices.length > 0 && (
        <footer>
          {word && (
            <label className="row grow">
              <input type="checkbox" checked={remember} onChange={(event) => remembering.set(event.target.checked)} />
              <span>
                Remember what “{word}” means in <span className="mono">{source}</span>
              </span>
            </label>
          )}
          <span className="dim caption hide-s">Press {keysOf(choices.length)}</span>
        </footer>
      )}
    </section>
  );
}

/** The synonym that the choice would store, if it is to be remembered; otherwise what it would answer, or its query. */
function Detail({ choice, remember }: { choice: Choice; remember: boolean }) {
  const { synonym, code, example } = choice;
  if (remember && synonym)
    return (
      <span className="d">
        “{synonym.phrase}” then means{" "}
        <span className="mono">
          {synonym.table}.{synonym.column}
        </span>
      </span>
    );
  if (choice.source) return <span className="d">Ask another source the same question</span>;
  if (remember) return <span className="d">This choice gives the word no meaning to remember</span>;
  if (example) return <span className="d">{example}</span>;
  return code && <span className="d mono clip">{code.replace(/\s+/g, " ")}</span>;
}

function keysOf(choices: number): string {
  const keys = Array.from({ length: Math.min(choices, 9) }, (_, i) => String(i + 1));
  return keys.length < 2 ? keys.join("") : `${keys.slice(0, -1).join(", ")} or ${keys.at(-1)}`;
}

/** A question back that was answered: one line, and a button to choose again. */
export function ChosenLine({ label, onChange }: { label: string; onChange: () => void }) {
  return (
    <div className="chosen">
      <Status state="ok">You chose</Status>
      <span className="grow clip">{label}</span>
      <button type="button" className="btn ghost small" onClick={onChange}>
        Change
      </button>
    </div>
  );
}
