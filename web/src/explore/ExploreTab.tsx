import { Bookmark, MessageSquareText, Undo2, X } from "lucide-react";
import { useEffect, useState } from "react";
import { api, Problem, path } from "../api/client";
import type { Explored, PlanChange, Table } from "../api/types";
import { PlanChips } from "../plan/PlanChips";
import { count, plural } from "../shared/format";
import { Link } from "../shared/Link";
import { ProblemNotice } from "../shared/Notice";
import { address, navigate } from "../shared/router";
import { SkeletonRows } from "../shared/Skeleton";
import { toast } from "../shared/toasts";
import { Groups } from "./Groups";
import { drillOf, groupOf } from "./groupOf";
import { Rows } from "./Rows";
import "./explore.css";

interface Props {
  source: string;
  tables: Table[];
  chosen: string | null;
}

/** A table looked at without a question. The state is a list of changes, and stands in the address. */
export function ExploreTab({ source, tables, chosen }: Props) {
  const table = tables.find(({ name }) => name === chosen) ?? tables[0];
  return (
    <div className="explore">
      <nav className="tbls" aria-label="Tables">
        {tables.map(({ name, row_count: rows }) => (
          <Link
            key={name}
            className={`tb ${name === table?.name ? "cur" : ""}`}
            aria-current={name === table?.name ? "true" : undefined}
            href={address("sources", source, name, "explore")}
          >
            <span className="clip">{name}</span>
            <span className="num">{rows === null ? "" : count(rows)}</span>
          </Link>
        ))}
      </nav>
      {table && <Exploring key={table.name} source={source} table={table.name} />}
    </div>
  );
}

const NONE: ReadonlySet<string> = new Set();

function Exploring({ source, table }: { source: string; table: string }) {
  const [changes, setChanges] = useState<PlanChange[]>(fromAddress);
  const [steps, setSteps] = useState<PlanChange[][]>([]);
  const [seen, setSeen] = useState<Explored | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(true);
  const [drilled, setDrilled] = useState<{ label: string; change: PlanChange } | null>(null);
  const [attempt, setAttempt] = useState(0);
  const place = path`/sources/${source}/tables/${table}/explore`;
  useEffect(() => {
    let current = true;
    setBusy(true);
    history.replaceState(
      null,
      "",
      changes.length ? `#${encodeURIComponent(JSON.stringify(changes))}` : location.pathname,
    );
    api
      .post<Explored>(place, { changes })
      .then((found) => {
        if (!current) return;
        setSeen(found);
        setProblem(null);
      })
      .catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        if (current) setProblem(error);
      })
      .finally(() => current && setBusy(false));
    return () => {
      current = false;
    };
  }, [place, changes, attempt]);
  const change = (more: PlanChange[]) => {
    setSteps([...steps, changes]);
    setChanges([...changes, ...more]);
    setDrilled(null);
  };
  const undo = () => {
    setChanges(steps.at(-1) ?? []);
    setSteps(steps.slice(0, -1));
    setDrilled(null);
  };
  const ask = async (keep: boolean) => {
    const { thread_id: thread } = await api.post<{ thread_id: string | null }>(`${place}/ask`, { changes });
    if (!thread) return;
    if (!keep) return navigate(address("ask", thread));
    await api.patch(path`/threads/${thread}`, { pinned: true });
    toast("Saved. It is pinned among your questions", {
      action: { label: "Open", run: () => navigate(address("ask", thread)) },
    });
  };
  if (!seen)
    return (
      <div className="grow pad">
        {problem ? (
          <ProblemNotice problem={problem} onRetry={() => setAttempt(attempt + 1)} />
        ) : (
          <SkeletonRows rows={10} columns={3} />
        )}
      </div>
    );
  const group = groupOf(seen.parts);
  return (
    <>
      <section className="seen" aria-label={`Explore ${table}`} aria-busy={busy}>
        <div className="parts">
          <PlanChips parts={seen.parts} changed={NONE} busy={busy} onChange={change} />
          {(changes.length > 0 || steps.length > 0) && (
            <span className="row">
              <button type="button" className="btn ghost small" disabled={busy || !steps.length} onClick={undo}>
                <Undo2 className="i i-s" aria-hidden />
                Undo
              </button>
              <button
                type="button"
                className="btn ghost small"
                disabled={busy || !changes.length}
                onClick={() => {
                  setSteps([...steps, changes]);
                  setChanges([]);
                  setDrilled(null);
                }}
              >
                Clear all
              </button>
            </span>
          )}
        </div>
        {problem && <ProblemNotice problem={problem} onRetry={() => setAttempt(attempt + 1)} />}
        <div className="scroll" tabIndex={0} role="region" aria-label="What is seen">
          <Groups
            seen={seen}
            chosen={drilled?.label ?? null}
            onDrill={(value, label) => {
              const narrowed = group && drillOf(group, value);
              if (narrowed) setDrilled({ label, change: narrowed });
            }}
          />
        </div>
        <footer className="asks">
          <MessageSquareText className="i" aria-hidden />
          <p className="grow">
            {seen.sentence}
            <small>
              {count(seen.matching)} of {seen.of === null ? "all" : count(seen.of)} rows
              {seen.more ? `, the first ${plural(seen.rows.length, "group")} shown` : ""}
            </small>
          </p>
          <button type="button" className="btn" disabled={busy} onClick={() => void ask(true)}>
            <Bookmark className="i i-s" aria-hidden />
            Save
          </button>
          <button type="button" className="btn primary" disabled={busy} onClick={() => void ask(false)}>
            Ask this
          </button>
        </footer>
      </section>
      {drilled && (
        <section className="drilled" aria-label={`Rows of ${drilled.label}`}>
          <div className="head">
            <h3 className="clip grow">{drilled.label}</h3>
            <button type="button" className="btn ghost small" onClick={() => change([drilled.change])}>
              Filter to these
            </button>
            <button type="button" className="btn ghost icon small" aria-label="Close" onClick={() => setDrilled(null)}>
              <X className="i i-s" aria-hidden />
            </button>
          </div>
          <Rows place={place} changes={[...changes, drilled.change]} />
        </section>
      )}
    </>
  );
}

function fromAddress(): PlanChange[] {
  try {
    const found: unknown = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    return Array.isArray(found) ? (found as PlanChange[]) : [];
  } catch {
    return []; // no state, or a link that was cut: the table as it is
  }
}
