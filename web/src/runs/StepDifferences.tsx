import type { ComparedStep, RunComparison } from "../api/types";
import { readable } from "../run/stepNames";
import { Difference } from "../shared/Difference";
import { diffLines } from "../shared/diffLines";
import { duration } from "../shared/format";

/** Differences of plan, code and duration. */
export function StepDifferences({ comparison }: { comparison: RunComparison }) {
  const { steps, plan_diff: plan } = comparison;
  return (
    <>
      {plan && <TextPart title="Plan" text={plan} />}
      {steps
        .filter((step) => step.code_diff)
        .map((step) => (
          <TextPart key={step.id} title={`Code of ${name(step)}`} note={onlyIn(step)} text={step.code_diff} />
        ))}
      <StepTimes steps={steps} />
    </>
  );
}

function TextPart({ title, note, text }: { title: string; note?: string; text: string }) {
  return (
    <section className="textdiff" aria-label={title}>
      <div className="dt">
        <h3>{title}</h3>
        <span className="dim">{note}</span>
      </div>
      <Difference lines={diffLines(text)} label={`What differs: ${title}`} />
    </section>
  );
}

function onlyIn({ before_code: before, after_code: after }: ComparedStep): string {
  return before === null ? "only in B" : after === null ? "only in A" : "";
}

function StepTimes({ steps }: { steps: ComparedStep[] }) {
  const longest = Math.max(1, ...steps.flatMap((step) => [step.before_ms ?? 0, step.after_ms ?? 0]));
  if (!steps.length) return null;
  return (
    <>
      <div className="dt">
        <h3>Time per step</h3>
      </div>
      <table className="data steps">
        <thead>
          <tr>
            <th>Step</th>
            <th className="r">A</th>
            <th className="r">B</th>
            <th className="r">Difference</th>
            <th>
              <span className="vh">Bars of both durations</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <tr key={step.id}>
              <td>{name(step)}</td>
              <td className="r num">{step.before_ms === null ? "–" : duration(step.before_ms)}</td>
              <td className="r num">{step.after_ms === null ? "–" : duration(step.after_ms)}</td>
              <td className="r num">{slower(step)}</td>
              <td>
                <svg width="100%" height="14" aria-hidden>
                  <rect
                    className="t-before"
                    width={`${(100 * (step.before_ms ?? 0)) / longest}%`}
                    height="5"
                    rx="1.5"
                  />
                  <rect
                    className="t-after"
                    y="7"
                    width={`${(100 * (step.after_ms ?? 0)) / longest}%`}
                    height="5"
                    rx="1.5"
                  />
                </svg>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function slower({ before_ms: before, after_ms: after }: ComparedStep): string {
  if (before === null || after === null) return "–";
  const sign = after < before ? "−" : "+";
  return `${sign}${duration(Math.abs(after - before))}`;
}

function name(step: ComparedStep): string {
  return readable(step.id.split("/").pop() ?? step.id);
}
