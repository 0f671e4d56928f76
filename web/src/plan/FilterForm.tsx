import { ChevronLeft } from "lucide-react";
import { useState } from "react";
import { path } from "../api/client";
import type { PlanChange, PlanColumn, TableStatistics } from "../api/types";
import { SearchField } from "../shared/Field";
import { useFetched } from "../shared/fetched";
import { count } from "../shared/format";
import { Option } from "./Options";

type Operator = "=" | "!=" | "<" | "<=" | ">" | ">=";

const COMPARISONS: [Operator, string][] = [
  ["=", "is"],
  ["!=", "is not"],
  [">=", "is at least"],
  ["<=", "is at most"],
];

interface Props {
  source: string;
  columns: PlanColumn[];
  /** The column that is filtered already, and the number of its filter. */
  now?: { column: PlanColumn; number: number; values: string[] };
  onPick: (change: PlanChange) => void;
}

/** Chooses a column, then a value of it. */
export function FilterForm({ source, columns, now, onPick }: Props) {
  const [column, setColumn] = useState<PlanColumn | null>(now?.column ?? null);
  const [text, setText] = useState("");
  if (column) {
    return (
      <Values
        source={source}
        column={column}
        chosen={now?.values ?? []}
        onBack={now ? undefined : () => setColumn(null)}
        onPick={(op, values) => onPick({ kind: "filter", of: column.place, op, values, replaces: now?.number ?? null })}
      />
    );
  }
  const wanted = text.trim().toLowerCase();
  const shown = columns.filter(({ label }) => label.toLowerCase().includes(wanted));
  return (
    <>
      <SearchField label="Find a column" value={text} onChange={setText} />
      <div className="opts" role="radiogroup" aria-label="Columns">
        {shown.map((each) => (
          <Option
            key={`${each.place.path.join(".")}.${each.place.column}`}
            label={each.label}
            detail={each.examples.slice(0, 2).join(", ") || null}
            onPick={() => setColumn(each)}
          />
        ))}
        {!shown.length && <p className="dim none">No column is called that.</p>}
      </div>
    </>
  );
}

interface ValuesProps {
  source: string;
  column: PlanColumn;
  chosen: string[];
  onBack?: () => void;
  onPick: (op: Operator, values: (string | number)[]) => void;
}

/** The values of a column, the most frequent first. Any other value can be typed. */
function Values({ source, column, chosen, onBack, onPick }: ValuesProps) {
  const found = useFetched<TableStatistics>(path`/sources/${source}/tables/${column.table}/statistics`);
  const [op, setOp] = useState<Operator>("=");
  const [text, setText] = useState("");
  const known = found.data?.columns.find(({ name }) => name === column.place.column)?.top_values ?? [];
  const listed = known.length
    ? known.map(({ value, count: n }) => ({ value, note: count(n) }))
    : column.examples.map((value) => ({ value, note: null }));
  const compared = column.type !== "text" && column.type !== "boolean";
  const wanted = text.trim().toLowerCase();
  const shown = listed.filter(({ value }) => compared || (value ?? "missing").toLowerCase().includes(wanted));
  return (
    <form
      className="values"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) onPick(op, [text.trim()]);
      }}
    >
      <div className="row">
        {onBack && (
          <button type="button" className="btn ghost icon small" aria-label="Back to the columns" onClick={onBack}>
            <ChevronLeft className="i i-s" aria-hidden />
          </button>
        )}
        <b className="clip grow">{column.label}</b>
      </div>
      <div className="row">
        <select
          className="chip"
          aria-label="How to compare"
          value={op}
          onChange={(e) => setOp(e.target.value as Operator)}
        >
          {COMPARISONS.slice(0, compared ? undefined : 2).map(([value, word]) => (
            <option key={value} value={value}>
              {word}
            </option>
          ))}
        </select>
        <input
          className="input grow"
          type={
            column.type === "date" ? "date" : column.type === "integer" || column.type === "number" ? "number" : "text"
          }
          step="any"
          aria-label={`Value of ${column.label}`}
          placeholder="Value"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" className="btn primary small" disabled={!text.trim()}>
          Apply
        </button>
      </div>
      <div className="opts" role="radiogroup" aria-label="Values">
        {shown.map(({ value, note }) => (
          <Option
            key={value ?? ""}
            label={value ?? "missing"}
            detail={note}
            chosen={value !== null && chosen.includes(value)}
            onPick={() => onPick(op === "!=" ? "!=" : "=", [value as string])}
          />
        ))}
      </div>
    </form>
  );
}
