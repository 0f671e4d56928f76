import type { Column, ColumnStatistics } from "../api/types";

const WIDTH = 108;
const HEIGHT = 22;
const FEW = 6;

/** The distribution of a column: a histogram of numbers and dates, the shares of few values, or the most frequent of many. */
export function ColumnPicture({
  column,
  statistics,
  rows,
}: {
  column: Column;
  statistics: ColumnStatistics | null;
  rows: number | null;
}) {
  if (statistics?.unique ?? column.unique) return <span className="dim caption">every value is different</span>;
  if (!statistics) return <span className="skel hist-wait" />;
  if (statistics.histogram.length > 1)
    return <Bars counts={statistics.histogram.map((bin) => bin.count)} label={`Histogram of ${column.name}`} />;
  const top = statistics.top_values;
  if (!top.length) return <span className="dim caption">no values</span>;
  if (top.length <= FEW && (statistics.distinct_count ?? top.length) <= FEW)
    return (
      <Shares
        counts={top.map((value) => value.count)}
        total={(rows ?? 0) - (statistics.null_count ?? 0)}
        label={top.map((value) => `${String(value.value)}: ${value.count}`).join(", ")}
      />
    );
  return <Bars counts={top.map((value) => value.count)} label={`Frequencies of ${column.name}`} />;
}

function Bars({ counts, label }: { counts: number[]; label: string }) {
  const highest = Math.max(...counts, 1);
  const step = WIDTH / counts.length;
  return (
    <svg className="hist" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      {counts.map((n, i) => {
        const height = n ? Math.max(1.5, (n / highest) * HEIGHT) : 0;
        return (
          <rect
            key={i}
            className="hist-bar"
            x={i * step}
            y={HEIGHT - height}
            width={Math.max(1, step - 1)}
            height={height}
          />
        );
      })}
    </svg>
  );
}

function Shares({ counts, total, label }: { counts: number[]; total: number; label: string }) {
  const whole = Math.max(
    total,
    counts.reduce((sum, n) => sum + n, 0),
    1,
  );
  let x = 0;
  return (
    <svg className="hist" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <title>{label}</title>
      {counts.map((n, i) => {
        const width = (n / whole) * WIDTH;
        const at = x;
        x += width;
        return (
          <rect
            key={i}
            className={`share s${Math.min(4, i)}`}
            x={at}
            y={7}
            width={Math.max(0.5, width - 1)}
            height={8}
            rx={1.5}
          />
        );
      })}
    </svg>
  );
}
