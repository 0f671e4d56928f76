import { Square } from "lucide-react";
import { useEffect, useState } from "react";
import { reach } from "../api/reach";
import { decide, type Turn } from "../run/conversations";
import { PlanGraph } from "../run/PlanGraph";
import { type ShownStep, shownSteps } from "../run/run";
import { StepList } from "../run/StepList";
import { useStepKinds } from "../run/stepKinds";
import { count, duration, plural } from "../shared/format";
import { type State, Status } from "../shared/Status";
import { useStore } from "../shared/store";

/**
 * A run in progress: its stage, its plan, and a button to stop it. While the server cannot be reached, the card shows the
 * last known state instead of progress.
 */
export function LiveCard({ turn, onStop }: { turn: Turn; onStop: () => void }) {
  const lost = useStore(reach).state === "lost";
  const current = shownSteps(turn.run.steps, useStepKinds());
  const steps = lost ? current.map(lastKnown) : current;
  const waiting = steps.find((step) => step.state === "waiting");
  const [state, word] = lost ? (["idle", "Last known state"] as const) : stateOf(turn, steps);
  return (
    <>
      <div className="live card">
        <header>
          <Status state={state}>{word}</Status>
          <Elapsed since={lost ? (turn.run.lastEvent?.at ?? null) : turn.run.began} ago={lost} />
          <span className="grow" />
          <button
            type="button"
            className="btn small"
            onClick={onStop}
            disabled={turn.stopping || lost}
            title={lost ? "The server cannot be reached" : undefined}
          >
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
        {lost ? (
          <span>
            The run continues on the server. This page will catch up from event {count(turn.run.lastEvent?.seq ?? 0)}.
          </span>
        ) : (
          <span>You can close the page. The run continues, and its answer will be here when you return.</span>
        )}
      </div>
    </>
  );
}

function stateOf(turn: Turn, steps: ShownStep[]): [State, string] {
  if (turn.stopping) return ["running", "Stopping …"];
  if (steps.some((step) => step.state === "waiting")) return ["waiting", "Waiting for you"];
  const over = steps.filter((step) => step.state === "ok" || step.state === "error" || step.state === "skipped").length;
  return ["running", steps.length ? `Step ${Math.min(steps.length, over + 1)} of ${steps.length}` : "Starting"];
}

function lastKnown(step: ShownStep): ShownStep {
  if (step.state !== "running" && step.state !== "retrying") return step;
  const far = step.total ? `${count(step.done ?? 0)} of ${count(step.total)}` : "Running";
  return { ...step, state: "idle", note: `${far} when the server was last reached` };
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
          Reject
        </button>
      </div>
    </div>
  );
}

/** The elapsed time, updated four times a second. */
function Elapsed({ since, ago }: { since: number | null; ago: boolean }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  const passed = since ? Math.max(0, now - since * 1_000) : null;
  return (
    <span className="dim num">
      {passed === null ? "" : ago ? `${Math.round(passed / 1_000)} s ago` : duration(passed)}
    </span>
  );
}
