import { ChevronRight, ShieldCheck } from "lucide-react";
import { useState } from "react";
import { JudgeButtons, useJudgement, WrongForm } from "../answer/Judging";
import type { Answer } from "../api/types";
import type { RunView } from "../run/run";
import { shownSteps } from "../run/run";
import { StepList } from "../run/StepList";
import { useStepKinds } from "../run/stepKinds";
import { verdicts } from "../run/verdicts";
import { age, duration, money, plural } from "../shared/format";
import { type State, Status } from "../shared/Status";
import { useStore } from "../shared/store";

/** The receipt of an answer, folded to one line that opens to its steps, and what can be done with the answer. */
export function AnswerFoot({ run, answer, onCheck }: { run: RunView; answer: Answer; onCheck: () => void }) {
  const [open, setOpen] = useState(false);
  const [saysWrong, setSaysWrong] = useState(false);
  const judging = useJudgement(answer.run_id, true);
  const verdict = useStore(verdicts)[answer.run_id];
  const steps = shownSteps(run.steps, useStepKinds());
  const [state, word] = verdictWord(verdict?.verdict, answer);
  return (
    <>
      <div className="afoot">
        <button
          type="button"
          className="fold"
          aria-expanded={open}
          title={answer.provenance.confidence_reason ?? undefined}
          onClick={() => setOpen(!open)}
        >
          <ChevronRight className="i i-s chev" aria-hidden />
          <span className="receipt">
            {word && <Status state={state}>{word}</Status>}
            {receiptParts(run, answer, steps.length).map((part) => (
              <span key={part}>{part}</span>
            ))}
          </span>
        </button>
        <span className="acts">
          <JudgeButtons judging={judging} open={saysWrong} onOpen={setSaysWrong} />
          <button type="button" className="btn ghost small push" onClick={onCheck}>
            <ShieldCheck className="i i-s" aria-hidden />
            Check
          </button>
        </span>
      </div>
      {open && (
        <div className="rsteps">
          <StepList steps={steps} />
        </div>
      )}
      {saysWrong && <WrongForm answer={answer} judging={judging} onClose={() => setSaysWrong(false)} />}
    </>
  );
}

/** Steps, time, sources with the age of their data, and the model. */
function receiptParts({ ms }: RunView, { provenance, usage }: Answer, steps: number): string[] {
  const { sources, last_sync: sync, mind } = provenance;
  const tokens = usage.input_tokens + usage.output_tokens;
  const data = [sources.join(" and "), sync && `${age(sync)} old`].filter(Boolean).join(", ");
  return [
    steps > 0 && plural(steps, "step"),
    ms !== null && duration(ms),
    data,
    tokens ? `${mind}, ${tokens.toLocaleString("en-US")} tokens, ${money(usage.cost_usd)}` : "no model",
  ].filter((part) => typeof part === "string" && part !== "") as string[];
}

/** Only what is not as usual is said: a doubt, a missing part, the outcome of a replay. */
function verdictWord(verdict: string | undefined, answer: Answer): [State, string | null] {
  const { confidence } = answer.provenance;
  if (verdict === "same") return ["ok", "Same rows on replay"];
  if (verdict === "differs") return ["warn", "Rows differ"];
  if (verdict === "cannot") return ["skipped", "Not replayable"];
  if (answer.status === "partial") return ["warn", "Partial"];
  if (confidence === "medium") return ["warn", "Medium confidence"];
  if (confidence === "low") return ["warn", "Low confidence"];
  return ["ok", null];
}
