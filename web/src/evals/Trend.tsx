import type { EvalRun } from "../api/types";
import { moment, percent } from "../shared/format";

const WIDTH = 640;
const HEIGHT = 96;
const PAD = 8;
const AXIS = 40;

/** How the share of right answers went, run by run. */
export function Trend({ runs }: { runs: EvalRun[] }) {
  const done = runs.flatMap((run) => (run.accuracy === null ? [] : [{ ...run, accuracy: run.accuracy }]));
  if (done.length < 2) return null;
  const x = (i: number) => PAD + (i * (WIDTH - AXIS - 2 * PAD)) / (done.length - 1);
  const y = (share: number) => PAD + (1 - share) * (HEIGHT - 2 * PAD);
  const line = done.map((run, i) => `${i ? "L" : "M"}${x(i)} ${y(run.accuracy)}`).join("");
  const label = `Share of right answers over ${done.length} runs, last ${percent(done.at(-1)?.accuracy ?? 0)}`;
  return (
    <figure className="trend">
      <figcaption className="label">Right answers, run by run</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line className="grid-line" x1={0} x2={WIDTH - AXIS} y1={y(share)} y2={y(share)} />
            <text x={WIDTH} y={y(share) + 4} textAnchor="end">
              {percent(share, 0)}
            </text>
          </g>
        ))}
        <path className="trend-line" d={line} />
        {done.map((run, i) => (
          <circle key={run.eval_id} className="trend-dot" cx={x(i)} cy={y(run.accuracy)} r={3}>
            <title>{`${moment(run.started_at)}: ${percent(run.accuracy)}`}</title>
          </circle>
        ))}
      </svg>
    </figure>
  );
}
