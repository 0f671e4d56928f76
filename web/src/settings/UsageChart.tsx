import { useState } from "react";
import type { UsageReport } from "../api/types";
import { count, moment, money, plural } from "../shared/format";

type Day = UsageReport["days"][number];

const HEIGHT = 124;
const FOOT = 18;
const HEAD = 16;

const MEASURES: Record<string, { of: (day: Day) => number; text: (value: number) => string }> = {
  Runs: { of: (day) => day.runs, text: (value) => plural(value, "run") },
  Tokens: { of: (day) => day.tokens, text: (value) => plural(value, "token") },
  Cost: { of: (day) => day.cost_usd, text: money },
};

/** Usage by day. In the chart of runs, failed runs are at the bottom of each bar in their own colour. */
export function UsageChart({ days }: { days: Day[] }) {
  const [chosen, setChosen] = useState("Runs");
  const measure = MEASURES[chosen]!;
  const most = Math.max(...days.map(measure.of), 0);
  const step = 100 / Math.max(1, days.length);
  const height = (value: number) => (most ? (value / most) * (HEIGHT - FOOT - HEAD) : 0);
  const bar = { x: "6%", width: "88%", rx: 1.5 };
  return (
    <>
      <div className="seg" role="group" aria-label="What is counted">
        {Object.keys(MEASURES).map((name) => (
          <button key={name} type="button" aria-pressed={name === chosen} onClick={() => setChosen(name)}>
            {name}
          </button>
        ))}
      </div>
      <svg
        className="usage"
        height={HEIGHT}
        role="img"
        aria-label={`${chosen} by day over ${days.length} days, at most ${measure.text(most)}`}
      >
        <line className="grid-line" x1={0} x2="100%" y1={HEAD} y2={HEAD} />
        <text x={1} y={HEAD - 5}>
          {measure.text(most)}
        </text>
        <line className="grid-line" x1={0} x2="100%" y1={HEIGHT - FOOT} y2={HEIGHT - FOOT} />
        {days.map((day, i) => (
          <svg key={day.day} x={`${i * step}%`} width={`${step}%`} height={HEIGHT} overflow="visible">
            <title>{`${moment(day.day)}: ${plural(day.runs, "run")}, ${count(day.failed)} failed, ${plural(day.tokens, "token")}, ${money(day.cost_usd)}`}</title>
            <rect className="u-day" width="100%" height={HEIGHT - FOOT} />
            <rect
              className="u-done"
              {...bar}
              y={HEIGHT - FOOT - height(measure.of(day))}
              height={height(measure.of(day))}
            />
            {chosen === "Runs" && (
              <rect className="u-failed" {...bar} y={HEIGHT - FOOT - height(day.failed)} height={height(day.failed)} />
            )}
            {i % 7 === 0 && i < days.length - 4 && (
              <text x={1} y={HEIGHT - 4}>
                {moment(day.day)}
              </text>
            )}
          </svg>
        ))}
        <text x="100%" y={HEIGHT - 4} textAnchor="end">
          Today
        </text>
      </svg>
    </>
  );
}
