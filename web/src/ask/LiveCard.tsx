import { Square } from "lucide-react";
import { useEffect, useState } from "react";
import { count, duration, plural } from "../shared/format";
import { Status } from "../shared/Status";
import { decide, type Turn } from "./conversations";
import { PlanGraph } from "./PlanGraph";
import { shownSteps } from "./run";
import { StepList } from "./StepList";

/** A run at work: where it is, its plan lighting up, and a way to stop it. */
export function LiveCard({ turn, onStop }: { turn: Turn; onStop: () => void }) {
  const steps = shownSteps(turn.run);
  const waiting = steps.find((step) => step.state === "waiting");
  const over = steps.filter((step) => step.state === "ok" || step.state === "error" || step.state === "skipped").length;
  const at = Math.min(steps.length, over + 1);
  return (
    <>
      <div className="live card">
        <header>
          <Status state={waiting ? "waiting" : "running"}>
            {turn.stopping ? "Stopping …" : waiting ? "Waits for you" : steps.length ? `Step ${at} of ${steps.length}` : "Starting"}
          </Status>
          <Elapsed since={turn.run.began} />
          <span className="grow" />
          <button type="button" className="btn small" onClick={onStop} disabled={turn.stopping}>
            <Square className="i i-xs" aria-hidden />
            Stop
          </button>
        </header>
        {steps.length > 1 && (
          <div className="planbox">
            <PlanGraph steps={steps} />
          </div>
        )}
        <StepList steps={steps} />
        {waiting && <Approval turn={turn} step={waiting.id} prompt={waiting.note ?? waiting.name} />}
      </div>
      <div className="receipt">
        {turn.run.rowCount !== null && <span>{plural(turn.run.rowCount, "row")} so far</span>}
        {turn.run.tokens > 0 && <span>{count(turn.run.tokens)} tokens</span>}
        <span>You may close the page. The run goes on and will be here when you come back.</span>
      </div>
    </>
  );
}

function Approval({ turn, step, prompt }: { turn: Turn; step: string; prompt: string }) {
  return (
    <div className="approval">
      <p>{prompt}</p>
      <div className="row">
        <button type="button" className="btn primary small" onClick={() => void decide(turn, step, true)}>
          Approve
        </button>
        <button type="button" className="btn small" onClick={() => void decide(turn, step, false)}>
          Do not
        </button>
      </div>
    </div>
  );
}

/** Counts up, four times a second at most. */
function Elapsed({ since }: { since: number | null }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  return <span className="dim num">{since ? duration(Math.max(0, now - since * 1_000)) : ""}</span>;
}
