import { Search, ShieldCheck } from "lucide-react";
import type { Answer } from "../api/types";
import { plural } from "../shared/format";

/** The answer of a query that found no rows. It says what was searched and how many rows were read. */
export function NothingFound({ answer, onCheck }: { answer: Answer; onCheck?: () => void }) {
  const looked = answer.steps.reduce((most, step) => Math.max(most, step.rows_in ?? 0), 0);
  return (
    <div className="cen">
      <span className="big">
        <Search className="i ok" aria-hidden />
      </span>
      <p className="h">Nothing matched</p>
      <p className="mid">{answer.provenance.understood ?? "The query ran and found no rows."}</p>
      {looked > 0 && <p className="mid num">Looked at {plural(looked, "row")}.</p>}
      {onCheck && (
        <div className="row acts">
          <button type="button" className="btn small" onClick={onCheck}>
            <ShieldCheck className="i i-s" aria-hidden />
            Check
          </button>
        </div>
      )}
    </div>
  );
}
