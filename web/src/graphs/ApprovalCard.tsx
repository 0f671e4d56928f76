import { Check, Hand, Pencil, X } from "lucide-react";
import { useState } from "react";
import { api, Problem, path } from "../api/client";
import type { Json } from "../api/types";
import { moment } from "../shared/format";
import { toast } from "../shared/toasts";
import type { NodeState } from "./nodeStates";

interface Props {
  run: string;
  node: string;
  asks: NonNullable<NodeState["asks"]>;
}

/** What a run waits for. Nothing goes on before somebody decides. */
export function ApprovalCard({ run, node, asks }: Props) {
  const [editing, setEditing] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const decide = async (verdict: "approve" | "reject" | "edit", data?: Json) => {
    setBusy(true);
    try {
      await api.post(path`/runs/${run}/approvals`, { step: node, verdict, ...(data === undefined ? {} : { data }) });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      toast(error.message, { state: "error" });
    } finally {
      setBusy(false);
    }
  };
  const shown = textOf(asks.shown);
  const edited = editing === null ? undefined : parsed(editing);
  return (
    <section className="approve" aria-label={`Decision of ${node}`}>
      <header>
        <Hand className="i" aria-hidden />
        <div className="grow">
          <h3>{asks.prompt}</h3>
          <p className="caption">
            Node <span className="mono">{node}</span> waits for you.{" "}
            {asks.until ? `It lapses ${moment(new Date(asks.until * 1_000).toISOString())}.` : "It does not lapse."}
          </p>
        </div>
      </header>
      {editing === null ? (
        shown && <pre className="code">{shown}</pre>
      ) : (
        <textarea
          className="input area mono"
          rows={5}
          aria-label="What to go on with"
          value={editing}
          onChange={(event) => setEditing(event.target.value)}
        />
      )}
      <footer className="row">
        {editing === null ? (
          <>
            <button type="button" className="btn primary small" disabled={busy} onClick={() => void decide("approve")}>
              <Check className="i i-s" aria-hidden />
              Approve
            </button>
            <button type="button" className="btn small" disabled={busy} onClick={() => setEditing(shown)}>
              <Pencil className="i i-s" aria-hidden />
              Edit
            </button>
            <button type="button" className="btn small danger" disabled={busy} onClick={() => void decide("reject")}>
              <X className="i i-s" aria-hidden />
              Reject
            </button>
          </>
        ) : (
          <>
            <button
              type="button"
              className="btn primary small"
              disabled={busy}
              onClick={() => void decide("edit", edited)}
            >
              Go on with this
            </button>
            <button type="button" className="btn ghost small" onClick={() => setEditing(null)}>
              Cancel
            </button>
          </>
        )}
      </footer>
    </section>
  );
}

function textOf(value: Json): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
