import { Fragment, useState } from "react";
import type { RunTimeline, StepAttempt, TimelineStep } from "../api/types";
import { kindName, readable } from "../ask/stepNames";
import { Code } from "../shared/Code";
import { count, duration } from "../shared/format";
import { Status } from "../shared/Status";
import { barsOf, ticks } from "./waterfallBars";

const WIDTH = 1_000;

/** The steps on one scale of time: what took long, what waited, what was tried again. */
export function Waterfall({ timeline }: { timeline: RunTimeline }) {
  const steps = timeline.steps.filter((step) => step.kind !== "subgraph");
  const [chosen, setChosen] = useState<string | null>(null);
  const total = Math.max(1, timeline.total_ms);
  const step = steps.find((known) => known.id === chosen) ?? steps.find((known) => known.code) ?? steps[0];
  return (
    <>
      <div className="wf">
        <div className="wr wh">
          <span>Step</span>
          <svg height="16" width="100%" aria-hidden>
            {ticks(total).map((ms) => (
              <text key={ms} x={`${(100 * ms) / total}%`} y="12" textAnchor={ms === 0 ? "start" : "middle"}>
                {duration(ms)}
              </text>
            ))}
          </svg>
          <span className="r">Rows</span>
          <span className="r">Time</span>
        </div>
        {steps.map((known) => (
          <button key={known.id} type="button" className={`wr ${known === step ? "sel" : ""}`} aria-pressed={known === step} onClick={() => setChosen(known.id)}>
            <span className="wn">
              <b className="clip">{name(known)}</b>
              <span className="m clip">{[kindName(known.kind), known.source, known.attempts.length > 1 && `try ${known.attempts.length}`].filter(Boolean).join(" · ")}</span>
            </span>
            <Bars step={known} total={total} />
            <span className="r num">{known.row_count === null ? "–" : count(known.row_count)}</span>
            <span className="r num">{known.start_ms === null || known.end_ms === null ? "–" : duration(known.end_ms - known.start_ms)}</span>
          </button>
        ))}
      </div>
      <div className="wleg" aria-hidden>
        <span>
          <i className="b-critical" /> on the critical path
        </span>
        <span>
          <i className="b-beside" /> beside it
        </span>
        <span>
          <i className="ht" /> failed try
        </span>
        <span>
          <i className="dash" /> wait before the next try
        </span>
      </div>
      {step && <StepDetail step={step} />}
    </>
  );
}

function Bars({ step, total }: { step: TimelineStep; total: number }) {
  return (
    <svg width="100%" height="14" viewBox={`0 0 ${WIDTH} 14`} preserveAspectRatio="none" role="img" aria-label={`${name(step)}: ${step.status}`}>
      {barsOf(step, total, WIDTH).map((bar, i) =>
        bar.kind === "wait" ? (
          <line key={i} className="b-wait" x1={bar.x} x2={bar.x + bar.width} y1={7} y2={7} vectorEffect="non-scaling-stroke" />
        ) : (
          <rect key={i} className={`b-${bar.kind}`} x={bar.x} y={0} width={bar.width} height={14} rx={2} />
        ),
      )}
    </svg>
  );
}

function StepDetail({ step }: { step: TimelineStep }) {
  return (
    <section className="sd" aria-label={`Step ${name(step)}`}>
      <div className="sdh">
        <h3>{name(step)}</h3>
        <span className="mono dim">{step.id}</span>
      </div>
      <ul className="tries">
        {step.attempts.map((attempt) => (
          <li key={attempt.number}>
            <Status state={attempt.outcome === "done" ? "ok" : attempt.outcome === "failed" ? "error" : "running"}>Try {attempt.number}</Status>
            <span className="dim num">{span(attempt)}</span>
            <p>{attempt.message ?? (attempt.outcome === "done" ? "Went through." : "")}</p>
          </li>
        ))}
        {step.message && !step.attempts.length && (
          <li>
            <span />
            <span />
            <p>{step.message}</p>
          </li>
        )}
      </ul>
      {step.code && (
        <div className="codebox">
          <Fragment key={step.id}>
            <Code text={step.code} language={step.kind === "python" ? "python" : "sql"} />
          </Fragment>
        </div>
      )}
    </section>
  );
}

function span(attempt: StepAttempt): string {
  const start = (attempt.start_ms / 1_000).toFixed(2);
  return attempt.end_ms === null ? `${start} s –` : `${start} – ${(attempt.end_ms / 1_000).toFixed(2)} s`;
}

function name(step: TimelineStep): string {
  return readable(step.id.split("/").pop() ?? step.id);
}
