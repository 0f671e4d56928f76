import type { EvalRun } from "../api/types";
import { moment, percent } from "../shared/format";

const HEIGHT = 96;
const PAD = 8;

/** The share of correct answers, run by run. */
export function Trend({ runs }: { runs: EvalRun[] }) {
  const done = runs.flatMap((run) => (run.accuracy === null ? [] : [{ ...run, accuracy: run.accuracy }]));
  if (done.length < 2) return null;
  const y = (share: number) => PAD + (1 - share) * (HEIGHT - 2 * PAD);
  const dots = done.map((run, i) => ({ run, x: `${1 + (i * 91) / (done.length - 1)}%`, y: y(run.accuracy) }));
  const label = `Share of correct answers over ${done.length} runs, last ${percent(done.at(-1)?.accuracy ?? 0)}`;
  return (
    <figure className="trend">
      <figcaption className="label">Correct answers, run by run</figcaption>
      <svg height={HEIGHT} role="img" aria-label={label}>
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line className="grid-line" x1={0} x2="93%" y1={y(share)} y2={y(share)} />
            <text x="100%" y={y(share) + 4} textAnchor="end">
              {percent(share, 0)}
            </text>
          </g>
        ))}
        {dots.slice(1).map((to, i) => (
          <line key={to.run.eval_id} className="trend-line" x1={dots[i]?.x} y1={dots[i]?.y} x2={to.x} y2={to.y} />
        ))}
        {dots.map(({ run, x, y: at }) => (
          <circle key={run.eval_id} className="trend-dot" cx={x} cy={at} r={3}>
            <title>{`${moment(run.started_at)}: ${percent(run.accuracy)}`}</title>
          </circle>
        ))}
      </svg>
    </figure>
  );
}
