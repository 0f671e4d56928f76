import { Fragment, useState } from "react";
import type { RunTimeline, StepAttempt, TimelineStep } from "../api/types";
import { type StepKinds, useStepKinds } from "../run/stepKinds";
import { kindLabel, readable } from "../run/stepNames";
import { Code } from "../shared/Code";
import { count, duration, plural } from "../shared/format";
import { Status } from "../shared/Status";
import { barsOf, type TimeBar, ticks } from "./waterfallBars";

const SCALE = 100;
const BAR = { y: 13, height: 14 };
/** With more steps than this, the list scrolls by itself, so that the details below it stay visible. */
const MANY = 12;

/** The steps on one time scale: which were slow, which waited, which were retried. */
export function Waterfall({ timeline }: { timeline: RunTimeline }) {
  const kinds = useStepKinds();
  const steps = timeline.steps.filter((step) => !kinds.get(step.kind)?.is_wrapper);
  const [chosen, setChosen] = useState<string | null>(null);
  const total = Math.max(1, timeline.total_ms);
  const step =
    steps.find((known) => known.id === chosen) ??
    steps.find((known) => known.status === "failed") ??
    steps.find((known) => known.code) ??
    steps[0];
  const drawn = steps.map((known) => ({ step: known, bars: barsOf(known, total, SCALE) }));
  const barKinds = new Set(drawn.flatMap(({ bars }) => bars.map((bar) => bar.kind)));
  return (
    <>
      <div className={`wf ${steps.length > MANY ? "many" : ""}`} role="group" aria-label={plural(steps.length, "step")}>
        <div className="wr wh">
          <span>Step</span>
          <svg height="16" width="100%" aria-hidden>
            <pattern id="failed-try" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <rect className="hatch" width="5" height="5" />
              <line className="hatch" x1="1" x2="1" y2="5" />
            </pattern>
            {ticks(total).map((ms) => (
              <text key={ms} x={`${(100 * ms) / total}%`} y="12" textAnchor={ms === 0 ? "start" : "middle"}>
                {ms < 1_000 && total < 2_000 ? `${ms} ms` : `${ms / 1_000} s`}
              </text>
            ))}
          </svg>
          <span className="r">Rows</span>
          <span className="r">Time</span>
        </div>
        {drawn.map(({ step: known, bars }) => (
          <button
            key={known.id}
            type="button"
            className={`wr ${known === step ? "sel" : ""}`}
            aria-pressed={known === step}
            onClick={() => setChosen(known.id)}
          >
            <span className="wn">
              <b className="clip">{name(known)}</b>
              <span className="m clip">{about(known, kinds)}</span>
            </span>
            <Bars step={known} bars={bars} total={total} />
            <span className="r num">{known.row_count === null ? "–" : count(known.row_count)}</span>
            <span className="r num">
              {known.start_ms === null || known.end_ms === null ? "–" : duration(known.end_ms - known.start_ms)}
            </span>
          </button>
        ))}
      </div>
      <div className="wleg" aria-hidden>
        {LEGEND.filter(([kind]) => barKinds.has(kind)).map(([kind, look, word]) => (
          <span key={kind}>
            <i className={look} /> {word}
          </span>
        ))}
      </div>
      {step && (
        <StepDetail
          step={step}
          language={kinds.get(step.kind)?.language ?? null}
          stopped={timeline.run.status === "cancelled"}
        />
      )}
    </>
  );
}

const LEGEND: [TimeBar["kind"], string, string][] = [
  ["critical", "b-critical", "on the critical path"],
  ["beside", "b-beside", "not on the critical path"],
  ["failed", "ht", "failed attempt"],
  ["wait", "dash", "wait before the next attempt"],
  ["running", "b-running", "running"],
];

function about(step: TimelineStep, kinds: StepKinds): string {
  const tokens = step.input_tokens + step.output_tokens;
  return [
    kindLabel(step.kind, kinds.get(step.kind)),
    step.source,
    tokens && plural(tokens, "token"),
    step.attempts.length > 1 && plural(step.attempts.length, "attempt"),
  ]
    .filter(Boolean)
    .join(" · ");
}

function Bars({ step, bars, total }: { step: TimelineStep; bars: TimeBar[]; total: number }) {
  const middle = BAR.y + BAR.height / 2;
  return (
    <svg width="100%" height="40" role="img" aria-label={`${name(step)}: ${step.status.replace("_", " ")}`}>
      {ticks(total).map((ms) => (
        <line key={ms} className="grid-line" x1={`${(100 * ms) / total}%`} x2={`${(100 * ms) / total}%`} y2="40" />
      ))}
      {bars.map((bar, i) =>
        bar.kind === "wait" ? (
          <line key={i} className="b-wait" x1={`${bar.x}%`} x2={`${bar.x + bar.width}%`} y1={middle} y2={middle} />
        ) : (
          <rect
            key={i}
            className={`b-${bar.kind}`}
            fill={bar.kind === "failed" ? "url(#failed-try)" : undefined}
            x={`${bar.x}%`}
            width={`${bar.width}%`}
            rx={2}
            {...BAR}
          />
        ),
      )}
    </svg>
  );
}

function StepDetail({ step, language, stopped }: { step: TimelineStep; language: string | null; stopped: boolean }) {
  return (
    <section className="sd" aria-label={`Step ${name(step)}`}>
      <div className="sdh">
        <h3>{name(step)}</h3>
        <span className="mono dim">{step.id}</span>
      </div>
      <ul className="tries">
        {step.attempts.map((attempt) => (
          <li key={attempt.number}>
            <Status state={attempt.outcome === "done" ? "ok" : attempt.outcome === "failed" ? "error" : "running"}>
              Attempt {attempt.number}
            </Status>
            <span className="dim num">{span(attempt)}</span>
            <p>{attempt.message ?? OUTCOMES[attempt.outcome === "failed" && stopped ? "stopped" : attempt.outcome]}</p>
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
            <Code text={step.code} language={language} />
          </Fragment>
        </div>
      )}
    </section>
  );
}

const OUTCOMES = { done: "Succeeded.", failed: "Failed.", running: "Running.", stopped: "Stopped." };

function span(attempt: StepAttempt): string {
  const start = (attempt.start_ms / 1_000).toFixed(2);
  return attempt.end_ms === null ? `${start} s –` : `${start} – ${(attempt.end_ms / 1_000).toFixed(2)} s`;
}

function name(step: TimelineStep): string {
  return readable(step.id.split("/").pop() ?? step.id);
}
