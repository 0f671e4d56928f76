import { ChevronRight, Hand, Search } from "lucide-react";
import { Fragment, useState } from "react";
import { path } from "../api/client";
import type { Answer, Choice, QuestionList } from "../api/types";
import { Code } from "../shared/Code";
import { useFetched } from "../shared/fetched";
import { Status } from "../shared/Status";
import { useStore } from "../shared/store";
import { differing, type Part } from "./differing";
import { offeredChoices } from "./offeredChoices";
import { remembering, wordToRemember } from "./remembering";

interface Props {
  answer: Answer;
  /** The source that can remember the choice; null if several sources were asked. */
  source: string | null;
  onChoose: (choice: number) => void;
  onAsk: (question: string) => void;
}

/** A question back: what is unclear in one line, and a few readings that differ in a marked phrase. */
export function ClarifyCard({ answer, source, onChoose, onAsk }: Props) {
  const choices = offeredChoices(answer);
  const [asCode, setAsCode] = useState(false);
  const word = source && wordToRemember(choices);
  const remember = useStore(remembering) && word !== null;
  const sentences = differing(choices.map((choice) => choice.label));
  if (!choices.length) return <NothingFits answer={answer} source={source} onAsk={onAsk} />;
  return (
    <section className="clarify card" aria-label="Clarifying question">
      <header>
        <Hand className="i" aria-hidden />
        <h2>
          <Marked text={headingOf(answer.text, choices.length)} />
        </h2>
      </header>
      {choices.map((choice, i) => (
        <button key={choice.id} type="button" className="choice" onClick={() => onChoose(choice.id)}>
          <kbd>{i + 1}</kbd>
          <span className="x">
            <Sentence parts={sentences[i] ?? []} />
            {isLong(choice.example) && <small className="num">{choice.example}</small>}
            <Detail choice={choice} remember={remember} />
            {asCode && choice.code && <Code text={choice.code} language="sql" />}
          </span>
          {choice.example && !isLong(choice.example) && <span className="s">{choice.example}</span>}
          <ChevronRight className="i i-s" aria-hidden />
        </button>
      ))}
      <footer>
        {word && (
          <label className="row">
            <input type="checkbox" checked={remember} onChange={(event) => remembering.set(event.target.checked)} />
            <span>
              Remember what “{word}” means in <span className="mono">{source}</span>
            </span>
          </label>
        )}
        <span className="grow" />
        {choices.some((choice) => choice.code) && (
          <button type="button" className="btn ghost small" aria-pressed={asCode} onClick={() => setAsCode(!asCode)}>
            {asCode ? "Hide the SQL" : "Show as SQL"}
          </button>
        )}
        <span className="dim caption hide-s">Press {keysOf(choices.length)}, or say it in other words</span>
      </footer>
    </section>
  );
}

/** The words that are not clear stand in quotation marks; they are marked instead. */
function Marked({ text }: { text: string }) {
  return text.split(/“([^”]+)”/).map((part, i) => (i % 2 ? <mark key={i}>{part}</mark> : part));
}

/** What is unclear, in one sentence. Where one reading is left, there is nothing to choose from. */
function headingOf(text: string, readings: number): string {
  const first = /^.+?[.?](?=\s|$)/s.exec(text)?.[0] ?? text;
  return readings === 1 && first === WHICH ? "Do you mean this?" : first;
}

const WHICH = "Which of these do you mean?";
const BESIDE = 22;

/** Whether an example needs a line of its own: beside the sentence it would be broken into several. */
function isLong(example: string | null | undefined): boolean {
  return (example?.length ?? 0) > BESIDE;
}

function Sentence({ parts }: { parts: Part[] }) {
  return parts.map(({ text, differs }, i) => (
    <Fragment key={i}>
      {i > 0 && " "}
      {differs ? <mark>{text}</mark> : text}
    </Fragment>
  ));
}

/** The synonym that the choice would store, if it is to be remembered. */
function Detail({ choice, remember }: { choice: Choice; remember: boolean }) {
  if (choice.source) return <small>Ask another source the same question</small>;
  if (!remember) return null;
  if (!choice.synonym) return <small>This choice gives the word no meaning to remember</small>;
  const { phrase, table, column } = choice.synonym;
  return (
    <small>
      “{phrase}” then means{" "}
      <span className="mono">
        {table}.{column}
      </span>
    </small>
  );
}

function keysOf(choices: number): string {
  const keys = Array.from({ length: choices }, (_, i) => String(i + 1));
  return keys.length < 2 ? keys.join("") : `${keys.slice(0, -1).join(", ")} or ${keys.at(-1)}`;
}

const OFFERED_QUESTIONS = 3;

/** Nothing in the data fits the question, so nobody is waited for. Questions that work are offered instead. */
function NothingFits({ answer, source, onAsk }: Pick<Props, "answer" | "source" | "onAsk">) {
  const { data } = useFetched<QuestionList>(source ? path`/sources/${source}/questions` : null);
  const questions = data?.questions.slice(0, OFFERED_QUESTIONS) ?? [];
  return (
    <section className="can card" aria-label="Not understood">
      <header>
        <h2>{answer.text}</h2>
      </header>
      {questions.length > 0 && <p className="label">Questions that work</p>}
      {questions.map(({ question, answer: gives }) => (
        <button key={question} type="button" className="works" onClick={() => onAsk(question)}>
          <Search className="i i-s" aria-hidden />
          <span className="grow">{question}</span>
          <span className="dim clip">{gives}</span>
        </button>
      ))}
    </section>
  );
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
