import { ArrowRight } from "lucide-react";
import { useMemo } from "react";
import { CellValue } from "../answer/Cell";
import type { CellFormat } from "../answer/cells";
import type { ComparedRow, Json, OutputColumn, RunComparison } from "../api/types";
import { columnFormat } from "../result/columnFormat";
import { count, plural } from "../shared/format";
import { WideTable } from "../shared/WideTable";

export type Change = ComparedRow["change"];
const KINDS: [Change, string][] = [
  ["added", "Added"],
  ["removed", "Removed"],
  ["changed", "Changed"],
];
export const DIFFERENT = KINDS.map(([kind]) => kind);
const SIGNS: Record<Change, string> = { added: "+", removed: "−", changed: "~", same: "" };

interface Props {
  comparison: RunComparison;
  chosen: Change | null;
  /** Whether there are too many unchanged rows to show them too. */
  onlyDifferent: boolean;
  onChoose: (change: Change | null) => void;
}

export function differences(counts: RunComparison["counts"]): number {
  return counts.added + counts.removed + counts.changed;
}

/** Added, removed and changed rows. */
export function RowDifferences({ comparison, chosen, onlyDifferent, onChoose }: Props) {
  const { counts, rows } = comparison;
  const all = differences(counts) + (onlyDifferent ? 0 : counts.same);
  const listed = chosen ? counts[chosen] : all;
  return (
    <>
      <div className="dt">
        <h3 className="grow">{headline(counts)}</h3>
        <div className="seg" role="group" aria-label="Rows to show">
          <button type="button" aria-pressed={chosen === null} onClick={() => onChoose(null)}>
            {onlyDifferent ? "Differences" : "All"} {count(all)}
          </button>
          {KINDS.map(([kind, label]) => (
            <button key={kind} type="button" aria-pressed={chosen === kind} onClick={() => onChoose(kind)}>
              {label} {count(counts[kind])}
            </button>
          ))}
        </div>
      </div>
      <ColumnChanges changes={comparison.changed_columns} />
      <DifferenceTable comparison={comparison} />
      {listed > rows.length && rows.length > 0 && (
        <p className="none dim">
          The first {count(rows.length)} of {count(listed)}. The download has every difference.
        </p>
      )}
    </>
  );
}

const COLUMN_CHANGES = { added: "was added", removed: "was removed", type: "has another type" };

function ColumnChanges({ changes }: { changes: RunComparison["changed_columns"] }) {
  if (!changes.length) return null;
  const names = changes.map((change) => `${change.column} ${COLUMN_CHANGES[change.how]}`);
  return <p className="note dim">Not compared: {names.join(", ")}.</p>;
}

function headline(counts: RunComparison["counts"]): string {
  const parts = KINDS.filter(([kind]) => counts[kind]).map(([kind]) => `${count(counts[kind])} ${kind}`);
  return parts.length ? parts.join(", ") : `The same ${plural(counts.same, "row")}`;
}

function formatsOf({ columns, rows }: RunComparison): CellFormat[] {
  return columns.map((column, i) =>
    columnFormat(
      column,
      rows.flatMap((row) => [row.before?.[i] ?? null, row.after?.[i] ?? null]),
    ),
  );
}

function DifferenceTable({ comparison }: { comparison: RunComparison }) {
  const formats = useMemo(() => formatsOf(comparison), [comparison]);
  return (
    <WideTable label="Rows that differ">
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
      {!comparison.rows.length && <p className="none dim">There are no such rows.</p>}
    </WideTable>
  );
}

function ComparedCell({
  row,
  column,
  at,
  format,
}: {
  row: ComparedRow;
  column: OutputColumn;
  at: number;
  format: CellFormat;
}) {
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
