import { ChevronRight, Hand } from "lucide-react";
import type { Answer } from "../api/types";
import { Status } from "../shared/Status";

interface Props {
  answer: Answer;
  onChoose: (choice: number) => void;
  onOther: () => void;
}

/** A question back is a first-class answer: choices, and a key for each. */
export function ClarifyCard({ answer, onChoose, onOther }: Props) {
  const { choices } = answer;
  return (
    <section className="clarify card" aria-label="A question back">
      <header>
        <Hand className="i" aria-hidden />
        <div>
          <h2>{answer.text}</h2>
          {choices.length > 1 && <p>{choices.length} readings fit about equally well. Pick the one you mean.</p>}
        </div>
      </header>
      {choices.map((choice, i) => (
        <button key={choice.id} type="button" className="choice" onClick={() => onChoose(choice.id)}>
          <kbd>{i + 1}</kbd>
          <span className="grow">
            <b>{choice.label}</b>
          </span>
          <ChevronRight className="i i-s" aria-hidden />
        </button>
      ))}
      <button type="button" className="choice" onClick={onOther}>
        <kbd>{choices.length + 1}</kbd>
        <span className="grow">
          <b>Something else</b>
          <span className="d">Say it in your own words</span>
        </span>
        <ChevronRight className="i i-s" aria-hidden />
      </button>
      {choices.length > 0 && (
        <footer>
          <span className="dim caption hide-s">Press {choices.map((_, i) => i + 1).join(", ")}</span>
        </footer>
      )}
    </section>
  );
}

/** The same once answered: one line, and a way to change it. */
export function ChosenLine({ label, onChange }: { label: string; onChange: () => void }) {
  return (
    <div className="chosen">
      <Status state="ok">Meant</Status>
      <span className="grow clip">{label}</span>
      <button type="button" className="btn ghost small" onClick={onChange}>
        Change
      </button>
    </div>
  );
}
