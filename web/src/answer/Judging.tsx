import { ThumbsDown, ThumbsUp } from "lucide-react";
import { useId, useState } from "react";
import { api, Problem, path } from "../api/client";
import type { Answer, Judgement, WrongAnswer } from "../api/types";
import { refresh, useFetched } from "../shared/fetched";
import { toast } from "../shared/toasts";

const GOLDEN = "golden";

/** What people have said about an answer, and how to say it. */
export function useJudgement(run: string, wanted: boolean) {
  const { data } = useFetched<Judgement>(wanted ? path`/runs/${run}/judgement` : null);
  const [busy, setBusy] = useState(false);
  const change = async (work: () => Promise<unknown>, text: string) => {
    setBusy(true);
    try {
      await work();
      toast(text);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      toast([error.message, error.hint].filter(Boolean).join(" "), { state: "error" });
    } finally {
      setBusy(false);
      refresh(path`/runs/${run}/judgement`);
      refresh("/evals");
      refresh("/wrong-answers");
    }
  };
  return {
    judgement: data,
    busy,
    keep: () =>
      change(
        () => api.post(path`/evals/${GOLDEN}/cases`, { run_id: run }),
        "Added to the golden questions. Evals checks it from now on.",
      ),
    drop: (suite: string, id: string) =>
      change(() => api.remove(path`/evals/${suite}/cases/${id}`), "No longer a golden question"),
    callWrong: (what: WrongAnswer["what"], note: string) =>
      change(() => api.post("/wrong-answers", { run_id: run, what, note }), "Kept in Evals as a case to mend"),
    takeBack: () => change(() => api.remove(path`/wrong-answers/${run}`), "No longer called wrong"),
  };
}

export type Judging = ReturnType<typeof useJudgement>;

interface Props {
  judging: Judging;
  /** Whether the form that says what is wrong is open. */
  open: boolean;
  onOpen: (open: boolean) => void;
}

/** Good and Wrong, as a pair of toggles. */
export function JudgeButtons({ judging, open, onOpen }: Props) {
  const { judgement, busy, keep, drop, takeBack } = judging;
  const good = Boolean(judgement?.golden);
  const wrong = Boolean(judgement?.wrong);
  return (
    <>
      <button
        type="button"
        className={`btn ghost small ${good ? "on-good" : ""}`}
        aria-pressed={good}
        disabled={busy}
        title={good ? "A golden question: Evals checks it" : "Right. Evals checks it from now on"}
        onClick={() =>
          judgement?.golden && judgement.suite ? void drop(judgement.suite, judgement.golden) : void keep()
        }
      >
        <ThumbsUp className="i i-s" aria-hidden />
        Good
      </button>
      <button
        type="button"
        className={`btn ghost small ${wrong || open ? "on-bad" : ""}`}
        aria-pressed={wrong}
        aria-expanded={wrong ? undefined : open}
        disabled={busy}
        title={wrong ? "In Evals as a case to mend" : "Say what is wrong"}
        onClick={() => (wrong ? void takeBack() : onOpen(!open))}
      >
        <ThumbsDown className="i i-s" aria-hidden />
        Wrong
      </button>
    </>
  );
}

const PARTS: [WrongAnswer["what"], string, string][] = [
  ["rows", "Rows", "some missing or too many"],
  ["meaning", "Meaning", "something else was meant"],
  ["number", "Number", ""],
  ["wording", "Wording", ""],
];

/** What was wrong, in four choices and one field. */
export function WrongForm({ answer, judging, onClose }: { answer: Answer; judging: Judging; onClose: () => void }) {
  const [what, setWhat] = useState<WrongAnswer["what"]>("meaning");
  const [note, setNote] = useState("");
  const name = useId();
  return (
    <form
      className="card wrong"
      aria-label="What was wrong"
      onSubmit={(event) => {
        event.preventDefault();
        void judging.callWrong(what, note).then(onClose);
      }}
    >
      <fieldset>
        <legend>What was wrong?</legend>
        {PARTS.map(([value, label, about]) => (
          <label key={value} className="pick">
            <input type="radio" name={name} value={value} checked={what === value} onChange={() => setWhat(value)} />
            <span>
              {label} {about && <small>{about}</small>}
            </span>
          </label>
        ))}
      </fieldset>
      <label>
        <span className="label">What would be right? (optional)</span>
        <textarea
          className="input area"
          rows={2}
          maxLength={2000}
          value={note}
          onChange={(event) => setNote(event.target.value)}
        />
      </label>
      <div className="row">
        <button type="submit" className="btn primary small" disabled={judging.busy}>
          Keep as a case to mend
        </button>
        <button type="button" className="btn ghost small" onClick={onClose}>
          Cancel
        </button>
      </div>
      <p className="caption dim">
        Goes to Evals with the question, how it was read{answer.provenance.plan ? ", the plan" : ""} and these words.
        {answer.provenance.plan ? " Or change the parts above." : ""}
      </p>
    </form>
  );
}
