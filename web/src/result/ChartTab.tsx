import { ChartArea, ChartBarBig, ChartLine, ChartPie, ChartScatter, Image } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import type { View } from "vega";
import {
  type ChartFields,
  type ChartKind,
  chartFields,
  defaultKind,
  description,
  MOST_POINTS,
  suitsPie,
} from "../answer/chartSpec";
import DrawnChart from "../answer/DrawnChart";
import { toPng, toSvg } from "../answer/drawChart";
import { AS_IS, readRows } from "../answer/rows";
import { titleOf } from "../answer/title";
import type { Answer, Json } from "../api/types";
import type { RunView } from "../run/run";
import { save } from "../shared/save";

const KINDS = [
  ["bar", "Bars", ChartBarBig],
  ["line", "Line", ChartLine],
  ["area", "Area", ChartArea],
  ["point", "Points", ChartScatter],
  ["pie", "Pie", ChartPie],
] as const;

export default function ChartTab({ run }: { run: RunView }) {
  const rows = useAllRows(run);
  const { answer } = run;
  if (!answer || !rows) return <p className="none dim">The chart is drawn when all rows have arrived.</p>;
  const fields = chartFields(answer.columns, rows);
  if (!fields) return <NoChart answer={answer} />;
  return <Chart key={answer.run_id} answer={answer} rows={rows} fields={fields} />;
}

function Chart({ answer, rows, fields }: { answer: Answer; rows: Json[][]; fields: ChartFields }) {
  const [kind, setKind] = useState<ChartKind>(() => defaultKind(answer, fields));
  const view = useRef<View | null>(null);

  const keep = async (extension: "png" | "svg") => {
    if (view.current)
      save(
        extension === "png" ? await toPng(view.current) : await toSvg(view.current),
        `${answer.run_id}.${extension}`,
      );
  };
  return (
    <>
      <div className="tool t-chart">
        <div className="seg" role="group" aria-label="Kind of chart">
          {KINDS.filter(([name]) => name !== "pie" || suitsPie(fields, rows)).map(([name, label, Icon]) => (
            <button key={name} type="button" aria-pressed={kind === name} onClick={() => setKind(name)}>
              <Icon className="i i-s" aria-hidden />
              {label}
            </button>
          ))}
        </div>
        <span className="grow" />
        {(["png", "svg"] as const).map((extension) => (
          <button key={extension} type="button" className="btn ghost small" onClick={() => void keep(extension)}>
            <Image className="i i-s" aria-hidden />
            {extension.toUpperCase()}
          </button>
        ))}
      </div>
      <div className="scroll chartbox">
        <h3>{titleOf(answer)}</h3>
        <p className="dim">{description(answer, fields, rows)}</p>
        <DrawnChart
          answer={answer}
          rows={rows}
          kind={kind}
          onDrawn={(drawn) => {
            view.current = drawn;
          }}
        />
      </div>
    </>
  );
}

function NoChart({ answer }: { answer: Answer }) {
  const why =
    answer.row_count < 2
      ? "A single row needs no chart."
      : "A chart needs a column of numbers and a column of names or times.";
  return (
    <div className="cen">
      <p className="h">No chart fits this result</p>
      <p className="mid">{why} The table holds everything.</p>
    </div>
  );
}

/** The rows to draw: those of the answer, or the first ones from the server. Null while they are loading. */
function useAllRows(run: RunView): Json[][] | null {
  const whole = run.rowCount !== null && run.rows.length >= run.rowCount;
  const [fetched, setFetched] = useState<Json[][] | null>(null);
  useEffect(() => {
    if (whole || !run.answer || !run.id) return undefined;
    const stop = new AbortController();
    const limit = Math.min(MOST_POINTS, run.answer.row_count);
    void readRows(run.id, { offset: 0, limit, order: AS_IS }, stop.signal).then(
      ({ rows }) => setFetched(rows),
      (error) => {
        if (!stop.signal.aborted) throw error;
      },
    );
    return () => stop.abort();
  }, [run.id, run.answer, whole]);
  return useMemo(() => (whole ? run.rows : fetched), [whole, run.rows, fetched]);
}
