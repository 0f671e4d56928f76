import type { UsageReport } from "../api/types";
import { money, moment, plural } from "../shared/format";

const WIDTH = 720;
const HEIGHT = 110;

/** Runs a day; failed ones stand at the foot, in their own colour. */
export function UsageChart({ days }: { days: UsageReport["days"] }) {
  const most = Math.max(1, ...days.map((day) => day.runs));
  const step = WIDTH / Math.max(1, days.length);
  const height = (n: number) => (n / most) * (HEIGHT - 18);
  return (
    <svg className="usage" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Runs a day over ${days.length} days, at most ${most}`}>
      <line className="grid-line" x1={0} x2={WIDTH} y1={HEIGHT - 16} y2={HEIGHT - 16} />
      {days.map((day, i) => (
        <g key={day.day} transform={`translate(${i * step} 0)`}>
          <title>{`${moment(day.day)}: ${plural(day.runs, "run")}, ${day.failed} failed, ${money(day.cost_usd)}`}</title>
          <rect className="u-done" x={1} width={Math.max(1, step - 3)} y={HEIGHT - 16 - height(day.runs)} height={height(day.runs - day.failed)} rx={1.5} />
          <rect className="u-failed" x={1} width={Math.max(1, step - 3)} y={HEIGHT - 16 - height(day.failed)} height={height(day.failed)} rx={1.5} />
          {i % 7 === 0 && i < days.length - 4 && (
            <text x={1} y={HEIGHT - 3}>
              {moment(day.day)}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
}
