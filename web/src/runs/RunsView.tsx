import { GitCompareArrows } from "lucide-react";
import { useDeferredValue, useEffect, useState } from "react";
import { query } from "../api/client";
import type { RunList, RunSummary } from "../api/types";
import { address, navigate } from "../app/router";
import { SearchField } from "../shared/Field";
import { count, duration, moment, shortId } from "../shared/format";
import { useFetched, useSteady } from "../shared/fetched";
import { ProblemNotice } from "../shared/Notice";
import { SkeletonRows } from "../shared/Skeleton";
import { runState, Status } from "../shared/Status";
import { ComparePane } from "./ComparePane";
import { RunPane } from "./RunPane";

const STATUSES = ["", "done", "running", "waiting", "partial", "failed", "cancelled"] as const;
const PERIODS = [
  ["", "Any time"],
  ["1", "Today"],
  ["7", "Last 7 days"],
  ["30", "Last 30 days"],
] as const;
const PAGE = 100;
const MOST = 500;

export default function RunsView({ run, other }: { run: string | null; other: string | null }) {
  const [filters, setFilters] = useState<Filters>({ search: "", status: "", source: "", days: "" });
  const [picked, setPicked] = useState<RunSummary[]>([]);
  const [most, setMost] = useState(PAGE);
  const search = useDeferredValue(filters.search);
  const list = useSteady(useFetched<RunList>(`/runs${query({ limit: most, search, status: filters.status, source: filters.source, since: since(filters.days) })}`));
  const runs = list.data?.runs ?? [];
  const current = run ?? runs[0]?.run_id ?? null;
  useEffect(() => {
    if (!runs.some((known) => known.status === "running")) return undefined;
    const timer = setInterval(list.reload, 2_000);
    return () => clearInterval(timer);
  }, [runs, list.reload]);

  function pick(chosen: RunSummary) {
    const others = (now: RunSummary[]) => now.filter((known) => known.run_id !== chosen.run_id);
    setPicked((now) => (isPicked(now, chosen) ? others(now) : [...now, chosen].slice(-2)));
  }

  return (
    <main className={`rr ${run ? "one" : ""}`}>
      <section className="pane" aria-label="Runs">
        <div className="head">
          <h1>Runs</h1>
          <span className="dim num grow">{list.data ? `${count(runs.length)}${list.data.next_before ? "+" : ""}` : ""}</span>
          <SearchField label="Find a run" className="fs" value={filters.search} onChange={(value) => setFilters({ ...filters, search: value })} />
        </div>
        <FilterBar filters={filters} sources={[...new Set(runs.flatMap((known) => known.sources))]} onChange={setFilters} />
        <div className="scroll">
          {list.problem && !list.data && <ProblemNotice problem={list.problem} onRetry={list.reload} />}
          {!list.data && !list.problem && <SkeletonRows rows={12} columns={4} />}
          {list.data && <RunTable runs={runs} current={current} compared={other} picked={picked} onPick={pick} />}
          {list.data && !runs.length && <p className="none dim">No run fits these filters.</p>}
          {list.data?.next_before && most < MOST && (
            <button type="button" className="more-rows" onClick={() => setMost(most + PAGE)}>
              Show older runs
            </button>
          )}
        </div>
        <footer className="foot">
          <span className="grow dim">{picked.length ? `${picked.length} selected, ${picked.map((known) => shortId(known.run_id)).join(" and ")}` : "Select two runs to compare them"}</span>
          <button type="button" className="btn small" disabled={picked.length !== 2} title={picked.length === 2 ? "Compare" : "Select two runs first"} onClick={() => compare(picked)}>
            <GitCompareArrows className="i i-s" aria-hidden />
            Compare
          </button>
        </footer>
      </section>
      {current && other && <ComparePane key={`${current} ${other}`} before={current} after={other} />}
      {current && !other && <RunPane key={current} run={current} />}
    </main>
  );
}

/** The older of the two is A. Both were picked at some time; the list may show others by now. */
function compare(picked: RunSummary[]): void {
  const [older, younger] = picked.toSorted((a, b) => a.created_at.localeCompare(b.created_at));
  if (younger && older) navigate(address("runs", older.run_id, younger.run_id));
}

function isPicked(picked: RunSummary[], run: RunSummary): boolean {
  return picked.some((known) => known.run_id === run.run_id);
}

function since(days: string): string | null {
  return days ? new Date(Date.now() - Number(days) * 86_400_000).toISOString().slice(0, 10) + "T00:00:00Z" : null;
}

interface Filters {
  search: string;
  status: string;
  source: string;
  days: string;
}

function FilterBar({ filters, sources, onChange }: { filters: Filters; sources: string[]; onChange: (filters: Filters) => void }) {
  const [known, setKnown] = useState<string[]>([]);
  useEffect(() => setKnown((now) => [...new Set([...now, ...sources])].sort()), [sources.join()]);
  return (
    <div className="filters">
      <Choice label="Status" value={filters.status} options={STATUSES.map((status) => [status, status ? runState(status)[1] : "Any status"])} onChange={(status) => onChange({ ...filters, status })} />
      <Choice label="Source" value={filters.source} options={[["", "Any source"], ...known.map((name): [string, string] => [name, name])]} onChange={(source) => onChange({ ...filters, source })} />
      <Choice label="Time" value={filters.days} options={PERIODS} onChange={(days) => onChange({ ...filters, days })} />
    </div>
  );
}

function Choice({ label, value, options, onChange }: { label: string; value: string; options: readonly (readonly [string, string])[]; onChange: (value: string) => void }) {
  return (
    <select className={`chip ${value ? "on" : ""}`} aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      {options.map(([name, word]) => (
        <option key={name} value={name}>
          {word}
        </option>
      ))}
    </select>
  );
}

interface RunTableProps {
  runs: RunSummary[];
  current: string | null;
  compared: string | null;
  picked: RunSummary[];
  onPick: (run: RunSummary) => void;
}

function RunTable({ runs, current, compared, picked, onPick }: RunTableProps) {
  return (
    <table className="data runs">
      <thead>
        <tr>
          <th>
            <span className="vh">Select</span>
          </th>
          <th>Run</th>
          <th>Source</th>
          <th className="r">Started</th>
          <th className="r">Time</th>
          <th className="r">Rows</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => {
          const [state, word] = runState(run.status, run.kind);
          const isCurrent = run.run_id === current || run.run_id === compared;
          return (
            <tr key={run.run_id} aria-selected={isCurrent} onClick={() => navigate(address("runs", run.run_id))}>
              <td onClick={(event) => event.stopPropagation()}>
                <input type="checkbox" aria-label={`Select ${run.question ?? run.run_id}`} checked={isPicked(picked, run)} onChange={() => onPick(run)} />
              </td>
              <td>
                <a
                  className="w clip"
                  href={address("runs", run.run_id)}
                  onClick={(event) => {
                    event.preventDefault();
                    navigate(address("runs", run.run_id));
                  }}
                >
                  {run.question ?? "A query"}
                </a>
                <span className="m">
                  <Status state={state}>{word}</Status> · <span className="mono">{shortId(run.run_id)}</span>
                </span>
              </td>
              <td className="sc">
                <span className="clip">{run.sources.join(", ")}</span>
              </td>
              <td className="r num">{moment(run.created_at)}</td>
              <td className="r num">{run.duration_ms === null ? "–" : duration(run.duration_ms)}</td>
              <td className="r num">{run.row_count === null ? "–" : count(run.row_count)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
