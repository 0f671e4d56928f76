import { ArrowRight, Download } from "lucide-react";
import { useState } from "react";
import { API, path, query } from "../api/client";
import type { RunComparison, RunList, RunSummary } from "../api/types";
import { useFetched, useSteady } from "../shared/fetched";
import { duration, moment, plural, shortId } from "../shared/format";
import { Link } from "../shared/Link";
import { ProblemNotice } from "../shared/Notice";
import { address } from "../shared/router";
import { SkeletonRows } from "../shared/Skeleton";
import { type State, Status } from "../shared/Status";
import { type Change, DIFFERENT, differences, RowDifferences } from "./RowDifferences";
import { StepDifferences } from "./StepDifferences";

/** With more rows than this, only the differences are shown. */
const MOST = 500;

/** Compares a run with an earlier one: question, plan, data and, row by row, the answer. */
export function CompareTab({ run, compared }: { run: RunSummary; compared: string | null }) {
  if (run.status === "running" || run.status === "waiting")
    return <p className="none dim">The run has not ended yet.</p>;
  return compared ? <Comparison before={compared} after={run.run_id} /> : <EarlierRuns run={run} />;
}

/** Runs of the same question, to choose one from. */
function EarlierRuns({ run }: { run: RunSummary }) {
  const found = useFetched<RunList>(`/runs${query({ search: run.question, limit: 50 })}`);
  if (found.problem && !found.data) return <ProblemNotice problem={found.problem} onRetry={found.reload} />;
  if (!found.data) return <SkeletonRows rows={4} columns={3} />;
  const others = found.data.runs.filter(
    (known) => known.run_id !== run.run_id && known.question === run.question && known.row_count !== null,
  );
  if (!others.length)
    return <p className="none dim">No other run has this question. Select two runs in the list to compare them.</p>;
  return (
    <div className="scroll">
      <div className="dt">
        <h3>Compare with</h3>
      </div>
      <ul className="others">
        {others.map((known) => (
          <li key={known.run_id}>
            <Link
              href={
                known.created_at < run.created_at
                  ? address("runs", known.run_id, run.run_id)
                  : address("runs", run.run_id, known.run_id)
              }
            >
              <Side
                letter={known.created_at < run.created_at ? "A" : "B"}
                run={known}
                className={known.created_at < run.created_at ? "side-a" : "side-b"}
              />
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Comparison({ before, after }: { before: string; after: string }) {
  const [chosen, setChosen] = useState<Change | null>(null);
  const [many, setMany] = useState(false);
  const wanted = chosen ? [chosen] : many ? DIFFERENT : [];
  const place = path`/runs/${before}/comparison`;
  const found = useSteady(useFetched<RunComparison>(`${place}${query({ other: after, change: wanted, limit: MOST })}`));
  const comparison = found.data;
  if (found.problem && !comparison) return <ProblemNotice problem={found.problem} onRetry={found.reload} />;
  if (!comparison) return <SkeletonRows rows={10} columns={4} />;
  const differing = differences(comparison.counts);
  const tooMany = differing + comparison.counts.same > MOST;
  if (tooMany !== many) setMany(tooMany);
  return (
    <div className="scroll" tabIndex={0}>
      <div className="ab">
        <Side letter="A" run={comparison.before} className="side-a" />
        <ArrowRight className="i" aria-hidden />
        <Side letter="B" run={comparison.after} className="side-b" />
        <span className="grow" />
        {differing > 0 && comparison.columns.length > 0 && (
          <a className="btn small" href={`${API}${place}/rows${query({ other: after })}`} download="differences.csv">
            <Download className="i i-s" aria-hidden />
            Download the differences
          </a>
        )}
      </div>
      <FactsLine comparison={comparison} />
      {comparison.rows_compared ? (
        <RowDifferences comparison={comparison} chosen={chosen} onlyDifferent={many} onChoose={setChosen} />
      ) : (
        <p className="none dim">Rows are not compared: {withoutRows(comparison)} has none.</p>
      )}
      <StepDifferences comparison={comparison} />
    </div>
  );
}

function withoutRows({ before, after }: RunComparison): string {
  return (
    [before, after]
      .filter((side) => side.row_count === null)
      .map((side) => shortId(side.run_id))
      .join(" and ") || "one of them"
  );
}

function Side({ letter, run, className }: { letter: string; run: RunSummary; className: string }) {
  return (
    <div className={className}>
      <span className="let">{letter}</span>
      <span>
        <b>{moment(run.created_at)}</b>
        <span className="m num">
          <span className="mono">{shortId(run.run_id)}</span> ·{" "}
          {run.row_count === null ? "no rows" : plural(run.row_count, "row")}
          {run.duration_ms !== null && ` · ${duration(run.duration_ms)}`}
        </span>
      </span>
    </div>
  );
}

function FactsLine({ comparison }: { comparison: RunComparison }) {
  const { same_question: question, same_plan: plan, same_code: code, data_changed: data, before } = comparison;
  return (
    <ul className="facts">
      <Fact
        state={question ? "ok" : "warn"}
        word={question ? "Same question" : "Other question"}
        note={question ? "word for word" : (before.question ?? "")}
      />
      <Fact
        state={plan && code ? "ok" : "warn"}
        word={plan ? (code ? "Same plan and code" : "Same plan, other code") : "Other plan"}
        note={plan && code ? "" : "shown below"}
      />
      <Fact
        state={data === null ? "idle" : data ? "warn" : "ok"}
        word={data === null ? "Data not compared" : data ? "Newer data" : "Same data"}
        note={data === null ? "the data has no fingerprint" : data ? "the data changed in between" : ""}
      />
    </ul>
  );
}

function Fact({ state, word, note }: { state: State; word: string; note: string }) {
  return (
    <li>
      <Status state={state}>{word}</Status>
      <span className="mid clip" title={note}>
        {note}
      </span>
    </li>
  );
}
