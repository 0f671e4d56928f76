import { History } from "lucide-react";
import { useEffect } from "react";
import { path } from "../api/client";
import type { Answer, Freshness } from "../api/types";
import { useFetched } from "../shared/fetched";
import { clock, moment } from "../shared/format";

/** Says that the data has changed since the answer and offers to ask again. Checked again when the user returns to the page. */
export function StaleLine({ answer, onAgain }: { answer: Answer; onAgain: () => void }) {
  const marked = answer.steps.some((step) => step.source && step.fingerprint);
  const { data, reload } = useFetched<Freshness>(marked ? path`/runs/${answer.run_id}/freshness` : null);
  useEffect(() => {
    const look = () => document.visibilityState === "visible" && reload();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [reload]);
  const changed = data?.sources.filter((source) => source.changed) ?? [];
  if (!changed.length) return null;
  const last = changed
    .map((source) => source.last_sync ?? "")
    .sort()
    .at(-1);
  return (
    <div className="ban stale" role="status">
      <History className="i" aria-hidden />
      <span className="grow">
        <b>{changed.map((source) => source.source).join(" and ")} changed after this answer.</b>
        {last && ` Last written ${moment(last) === clock(last) ? "at" : "on"} ${moment(last)}.`}
      </span>
      <button type="button" className="btn small" onClick={onAgain}>
        Ask again
      </button>
    </div>
  );
}
