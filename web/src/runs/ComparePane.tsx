import { ArrowRight, Download } from "lucide-react";
import { useMemo, useState } from "react";
import { path, query } from "../api/client";
import type { ComparedRow, ComparedStep, Json, OutputColumn, RunComparison, RunSummary } from "../api/types";
import { CellValue } from "../result/Cell";
import type { CellFormat } from "../result/cells";
import { columnFormat } from "../result/columnFormat";
import { count, duration, moment, plural, shortId } from "../shared/format";
import { useFetched, useSteady } from "../shared/fetched";
import { ProblemNotice } from "../shared/Notice";
import { save } from "../shared/save";
import { SkeletonRows } from "../shared/Skeleton";
import { Status } from "../shared/Status";

type Change = ComparedRow["change"];
const KINDS: [Change, string][] = [
  ["added", "Added"],
  ["removed", "Removed"],
  ["changed", "Changed"],
];
const SIGNS: Record<Change, string> = { added: "+", removed: "−", changed: "~", same: "" };
const MOST = 500;

/** Two runs side by side: what differs in the question, the plan, the data and, row by row, in the answer. */
export function ComparePane({ before, after }: { before: string; after: string }) {
  const [only, setOnly] = useState<Change | "">("");
  const found = useSteady(useFetched<RunComparison>(`${path`/runs/${before}/comparison`}${query({ other: after, change: only, limit: MOST })}`));
  const comparison = found.data;
  if (found.problem && !comparison) {
    return (
      <section className="pane">
        <ProblemNotice problem={found.problem} onRetry={found.reload} />
      </section>
    );
  }
  return (
    <section className="pane" aria-label="Comparison">
      <div className="head">
        <h2 className="clip grow">{comparison?.after.question ?? "Comparison"}</h2>
        {comparison && (
          <button type="button" className="btn small" onClick={() => save(differences(comparison), "differences.csv")}>
            <Download className="i i-s" aria-hidden />
            Download the differences
          </button>
        )}
      </div>
      {!comparison && <SkeletonRows rows={10} columns={4} />}
      {comparison && (
        <div className="scroll" tabIndex={0}>
          <Sides before={comparison.before} after={comparison.after} />
          <FactsLine comparison={comparison} />
          <div className="dt">
            <h3 className="grow">{headline(comparison.counts)}</h3>
            <div className="seg" role="group" aria-label="Rows to show">
              <button type="button" aria-pressed={only === ""} onClick={() => setOnly("")}>
                All
              </button>
              {KINDS.map(([kind, label]) => (
                <button key={kind} type="button" aria-pressed={only === kind} onClick={() => setOnly(kind)}>
                  {label} {count(comparison.counts[kind])}
                </button>
              ))}
            </div>
          </div>
          <RowDifferences comparison={comparison} />
          <StepTimes steps={comparison.steps} />
        </div>
      )}
    </section>
  );
}

function Sides({ before, after }: { before: RunSummary; after: RunSummary }) {
  return (
    <div className="ab">
      <Side letter="A" run={before} className="side-a" />
      <ArrowRight className="i" aria-hidden />
      <Side letter="B" run={after} className="side-b" />
    </div>
  );
}

function Side({ letter, run, className }: { letter: string; run: RunSummary; className: string }) {
  return (
    <div className={className}>
      <span className="let">{letter}</span>
      <span>
        <b>{moment(run.created_at)}</b>
        <span className="m num">
          <span className="mono">{shortId(run.run_id)}</span> · {run.row_count === null ? "no rows" : plural(run.row_count, "row")}
          {run.duration_ms !== null && ` · ${duration(run.duration_ms)}`}
        </span>
      </span>
    </div>
  );
}

function FactsLine({ comparison }: { comparison: RunComparison }) {
  const { same_question: question, same_plan: plan, same_code: code, data_changed: data } = comparison;
  return (
    <ul className="facts">
      <li>
        <Status state={question ? "ok" : "warn"}>{question ? "Same question" : "Other question"}</Status>
      </li>
      <li>
        <Status state={plan && code ? "ok" : "warn"}>{plan ? (code ? "Same plan and code" : "Same plan, other code") : "Other plan"}</Status>
      </li>
      <li>
        <Status state={data === null ? "idle" : data ? "warn" : "ok"}>{data === null ? "Age of the data not known" : data ? "Newer data" : "Same data"}</Status>
      </li>
    </ul>
  );
}

function headline(counts: RunComparison["counts"]): string {
  const parts = KINDS.filter(([kind]) => counts[kind]).map(([kind]) => `${count(counts[kind])} ${kind}`);
  return parts.length ? parts.join(", ") : `The same ${plural(counts.same, "row")}`;
}

function formatsOf({ columns, rows }: RunComparison): CellFormat[] {
  return columns.map((column, i) => columnFormat(column, rows.flatMap((row) => [row.before?.[i] ?? null, row.after?.[i] ?? null])));
}

function RowDifferences({ comparison }: { comparison: RunComparison }) {
  const formats = useMemo(() => formatsOf(comparison), [comparison]);
  return (
    <div className="wide">
      <table className="data diff">
        <thead>
          <tr>
            <th className="sg">
              <span className="vh">Change</span>
            </th>
            {comparison.columns.map((column, i) => (
              <th key={column.name} className={formats[i]?.right ? "r" : undefined}>
                {column.name}
                {comparison.key.includes(column.name) && <span className="u">key</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {comparison.rows.map((row, i) => (
            <tr key={i} className={`d-${row.change}`}>
              <td className="sg">
                {SIGNS[row.change]}
                <span className="vh">{row.change}</span>
              </td>
              {comparison.columns.map((column, at) => (
                <ComparedCell key={column.name} row={row} column={column} at={at} format={formats[at]!} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {!comparison.rows.length && <p className="none dim">No row is of this kind.</p>}
    </div>
  );
}

function ComparedCell({ row, column, at, format }: { row: ComparedRow; column: OutputColumn; at: number; format: CellFormat }) {
  const value = (values: Json[] | null) => values?.[at] ?? null;
  const changed = row.change === "changed" && row.columns.includes(column.name);
  const className = [format.right ? "r" : "", changed ? "chg" : ""].join(" ");
  return (
    <td className={className}>
      {changed ? (
        <>
          <del>
            <CellValue value={value(row.before)} format={format} />
          </del>
          <ArrowRight className="i i-xs" aria-hidden />
          <ins>
            <CellValue value={value(row.after)} format={format} />
          </ins>
        </>
      ) : (
        <CellValue value={value(row.after ?? row.before)} format={format} />
      )}
    </td>
  );
}

function StepTimes({ steps }: { steps: ComparedStep[] }) {
  const longest = Math.max(1, ...steps.flatMap((step) => [step.before_ms ?? 0, step.after_ms ?? 0]));
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
            <th>
              <span className="vh">Difference</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <tr key={step.id}>
              <td>{step.id}</td>
              <td className="r num">{step.before_ms === null ? "–" : duration(step.before_ms)}</td>
              <td className="r num">{step.after_ms === null ? "–" : duration(step.after_ms)}</td>
              <td>
                <svg width="100%" height="14" aria-hidden>
                  <rect className="t-before" width={`${(100 * (step.before_ms ?? 0)) / longest}%`} height="5" rx="1.5" />
                  <rect className="t-after" y="7" width={`${(100 * (step.after_ms ?? 0)) / longest}%`} height="5" rx="1.5" />
                </svg>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function differences(comparison: RunComparison): Blob {
  const quote = (value: Json) => `"${String(value ?? "").replaceAll('"', '""')}"`;
  const head = ["change", ...comparison.columns.map((column) => column.name)].map(quote).join(",");
  const lines = comparison.rows
    .filter((row) => row.change !== "same")
    .map((row) => [row.change, ...(row.after ?? row.before ?? [])].map(quote).join(","));
  return new Blob([[head, ...lines].join("\n")], { type: "text/csv" });
}
