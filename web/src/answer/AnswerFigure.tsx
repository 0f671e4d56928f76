import { ChartLine, Maximize2, Table2 } from "lucide-react";
import { Suspense, useEffect, useMemo, useState } from "react";
import type { Answer, Json } from "../api/types";
import { count } from "../shared/format";
import { later } from "../shared/later";
import { SkeletonRows } from "../shared/Skeleton";
import { cellText, formatOf } from "./cells";
import { FirstRows } from "./FirstRows";
import { type Figure, figureOf, inOrder, type LineFigure } from "./figure";
import { LineChart } from "./LineChart";
import { linesOf } from "./lines";
import { Ranking } from "./Ranking";
import { AS_IS, readRows } from "./rows";
import { titleOf } from "./title";

const DrawnChart = later(() => import("./DrawnChart"));

const RANKED = 8;
const LISTED = 5;
const MOST_LOADED = 1_000;

interface Props {
  answer: Answer;
  /** The rows that the page holds; an answer with many rows comes with the first ones. */
  rows: Json[][];
  /** Opens all rows; absent where there is no place for them, as in a shared thread. */
  onOpen?: () => void;
}

/** What an answer shows of its rows: a line over time, a ranking with bars, a chart that was asked for, or the first rows. */
export function AnswerFigure({ answer, rows: held, onOpen }: Props) {
  const rows = useHeldRows(answer, held);
  const figure = useMemo(() => figureOf(answer), [answer]);
  const [asTable, setAsTable] = useState(false);
  if (!figure || !rows.length) return null;
  const most = figure.kind === "ranking" ? RANKED : LISTED;
  const shown = inOrder(rows, figure).slice(0, most);
  const listed = figure.kind === "rows" || figure.kind === "ranking";
  return (
    <figure className={`fig f-${figure.kind}`}>
      <figcaption>
        <b className="clip">{titleOf(answer)}</b>
        {figure.kind === "line" && <span className="dim hide-s">{extentOf(answer, rows, figure)}</span>}
        {figure.kind === "ranking" && figure.sorted && <span className="dim hide-s">highest first</span>}
        <span className="grow" />
        {!listed && <FrameSwitch asTable={asTable} onSwitch={setAsTable} rows={answer.row_count} />}
        {!listed && onOpen && (
          <button type="button" className="btn ghost small fig-open" aria-label="Open" onClick={onOpen}>
            <Maximize2 className="i i-s" aria-hidden />
            <span>Open</span>
          </button>
        )}
      </figcaption>
      <FigureBody answer={answer} all={rows} shown={asTable ? rows : shown} figure={asTable ? ROWS : figure} />
      {listed && (
        <div className="ft">
          <span>
            {answer.row_count > shown.length ? `${count(shown.length)} of ${count(answer.row_count)} rows` : null}
          </span>
          <span className="grow" />
          {onOpen && (
            <button type="button" className="btn ghost small fig-open" onClick={onOpen}>
              {answer.row_count > shown.length ? `Show all ${count(answer.row_count)}` : "Open"}
            </button>
          )}
        </div>
      )}
    </figure>
  );
}

/** The rows that came with the answer. If they stayed on the server, the first of them are loaded. */
function useHeldRows(answer: Answer, held: Json[][]): Json[][] {
  const [loaded, setLoaded] = useState<Json[][]>([]);
  const missing = held.length === 0 && answer.row_count > 0;
  useEffect(() => {
    if (!missing) return undefined;
    const stop = new AbortController();
    const limit = Math.min(MOST_LOADED, answer.row_count);
    void readRows(answer.run_id, { offset: 0, limit, order: AS_IS }, stop.signal).then(
      ({ rows }) => setLoaded(rows),
      (error) => {
        if (!stop.signal.aborted) throw error;
      },
    );
    return () => stop.abort();
  }, [missing, answer.run_id, answer.row_count]);
  return missing ? loaded : held;
}

const ROWS: Figure = { kind: "rows" };

function FigureBody({
  answer,
  all,
  shown,
  figure,
}: {
  answer: Answer;
  all: Json[][];
  shown: Json[][];
  figure: Figure;
}) {
  switch (figure.kind) {
    case "line":
      return <Over answer={answer} rows={all} figure={figure} />;
    case "ranking":
      return <Ranking answer={answer} rows={shown} all={all} figure={figure} />;
    case "drawn":
      return (
        <Suspense fallback={<SkeletonRows rows={6} columns={1} />}>
          <DrawnChart answer={answer} rows={all} />
        </Suspense>
      );
    case "rows":
      return (
        <div className="rows-frame" tabIndex={0} role="region" aria-label="Rows">
          <FirstRows answer={answer} rows={shown} />
        </div>
      );
  }
}

function Over({ answer, rows, figure }: { answer: Answer; rows: Json[][]; figure: LineFigure }) {
  const lines = useMemo(() => linesOf(answer, rows, figure), [answer, rows, figure]);
  const format = formatOf(answer, figure.measures[0] ?? 0).format;
  const percent = format.kind === "number" && format.percent;
  return <LineChart {...lines} percent={percent} label={`${titleOf(answer)}, ${extentOf(answer, rows, figure)}`} />;
}

function FrameSwitch({
  asTable,
  onSwitch,
  rows,
}: {
  asTable: boolean;
  onSwitch: (asTable: boolean) => void;
  rows: number;
}) {
  return (
    <div className="seg" role="group" aria-label="Show as">
      <button type="button" aria-pressed={!asTable} onClick={() => onSwitch(false)}>
        <ChartLine className="i i-s" aria-hidden />
        Chart
      </button>
      <button type="button" aria-pressed={asTable} onClick={() => onSwitch(true)}>
        <Table2 className="i i-s" aria-hidden />
        Table <span className="num dim">{count(rows)}</span>
      </button>
    </div>
  );
}

function extentOf(answer: Answer, rows: Json[][], { label }: LineFigure): string {
  const format = formatOf(answer, label);
  const texts = rows.map((row) => cellText(row[label] ?? null, format)).sort();
  return `${texts[0]} to ${texts.at(-1)}`;
}
