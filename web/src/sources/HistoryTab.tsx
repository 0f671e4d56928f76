import { Undo2 } from "lucide-react";
import { path } from "../api/client";
import type { SemanticChange, SemanticHistory } from "../api/types";
import { overwrite, undo } from "../data/semantic";
import { Difference } from "../shared/Difference";
import { useFetched } from "../shared/fetched";
import { clock, moment } from "../shared/format";
import { ProblemNotice } from "../shared/Notice";
import { toast } from "../shared/toasts";
import { lineDifference } from "./lineDifference";

/** The history of name changes, with a button to undo the last one. */
export function HistoryTab({ source }: { source: string }) {
  const history = useFetched<SemanticHistory>(path`/sources/${source}/semantic/history`);
  if (history.problem && !history.data) return <ProblemNotice problem={history.problem} />;
  const changes = history.data?.changes ?? [];
  const goBack = async (change: SemanticChange, newest: boolean) => {
    if (newest) await undo(source, change.change_id);
    else await overwrite(source, change.before, `Restored the version before ${clock(change.at)}`);
    toast("Restored. You can undo this too.");
  };
  return (
    <div className="scroll names" tabIndex={0}>
      {changes.map((change, i) => (
        <details key={change.change_id} className="change" open={i === 0}>
          <summary className="row">
            <b title={change.at}>{moment(change.at)}</b>
            <span className="mid grow clip">{change.note || "The text was edited"}</span>
            <span className="dim">{change.user}</span>
            <button type="button" className="btn ghost small" onClick={() => void goBack(change, i === 0)}>
              <Undo2 className="i i-s" aria-hidden />
              {i === 0 ? "Undo" : "Restore the version before this"}
            </button>
          </summary>
          <Difference lines={lineDifference(change.before, change.after)} label="What was changed" />
        </details>
      ))}
      {history.data && !changes.length && <p className="none dim">No name was changed here yet.</p>}
    </div>
  );
}
