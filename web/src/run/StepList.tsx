import { count, duration, plural } from "../shared/format";
import { StateIcon, toneOf } from "../shared/Status";
import type { ShownStep } from "./run";

/** The steps in order, each with its kind and its progress. */
export function StepList({ steps }: { steps: ShownStep[] }) {
  return (
    <ol className="steps">
      {steps.map((step) => (
        <li key={step.id} className={`step s-${toneOf(step.state)}`}>
          <StateIcon state={step.state} />
          <div className="grow">
            <div className="row">
              <span className="clip">{step.name}</span>
              <span className="grow" />
              <span className="num dim caption">{progress(step)}</span>
            </div>
            <div className="caption dim">{step.note ?? [step.label, step.source].filter(Boolean).join(" · ")}</div>
            {step.state === "running" && step.total ? <Bar done={step.done ?? 0} total={step.total} /> : null}
          </div>
        </li>
      ))}
    </ol>
  );
}

export function Bar({ done, total }: { done: number; total: number }) {
  return (
    <div className="progress" role="progressbar" aria-label="Progress" aria-valuenow={done} aria-valuemax={total}>
      <i style={{ width: `${Math.min(100, (100 * done) / total)}%` }} />
    </div>
  );
}

function progress(step: ShownStep): string {
  if (step.state === "running" && step.total) return `${count(step.done ?? 0)} of ${count(step.total)}`;
  const parts = [step.rows === null ? null : plural(step.rows, "row"), step.ms === null ? null : duration(step.ms)];
  return parts.filter(Boolean).join(" · ");
}
