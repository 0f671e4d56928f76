import { Undo2 } from "lucide-react";
import { path } from "../api/client";
import type { SemanticHistory } from "../api/types";
import { toast } from "../app/toasts";
import { Difference } from "../shared/Difference";
import { useFetched } from "../shared/fetched";
import { moment } from "../shared/format";
import { ProblemNotice } from "../shared/Notice";
import { lineDifference } from "./lineDifference";
import { undo } from "./semantic";

/** Who changed which names and when, and a way back. */
export function HistoryTab({ source }: { source: string }) {
  const history = useFetched<SemanticHistory>(path`/sources/${source}/semantic/history`);
  if (history.problem && !history.data) return <ProblemNotice problem={history.problem} />;
  const changes = history.data?.changes ?? [];
  const goBack = async (change: string) => {
    await undo(source, change);
    toast("Undone");
  };
  return (
    <div className="scroll names" tabIndex={0}>
      {changes.map((change, i) => (
        <details key={change.change_id} className="change" open={i === 0}>
          <summary className="row">
            <b>{moment(change.at)}</b>
            <span className="mid grow clip">{change.note ?? "Names changed"}</span>
            <span className="dim">{change.user}</span>
            <button type="button" className="btn ghost small" onClick={() => void goBack(change.change_id)}>
              <Undo2 className="i i-s" aria-hidden />
              Undo
            </button>
          </summary>
          <Difference lines={lineDifference(change.before, change.after)} label="What was changed" />
        </details>
      ))}
      {history.data && !changes.length && <p className="none dim">No name was changed here yet.</p>}
    </div>
  );
}
