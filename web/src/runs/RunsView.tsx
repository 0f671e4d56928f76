import { GitCompareArrows } from "lucide-react";
import { useCallback, useDeferredValue, useEffect, useState } from "react";
import type { RunSummary } from "../api/types";
import { SearchField } from "../shared/Field";
import { count, shortId } from "../shared/format";
import { ProblemNotice } from "../shared/Notice";
import { address, navigate } from "../shared/router";
import { SkeletonRows } from "../shared/Skeleton";
import { runState } from "../shared/Status";
import { RunPane } from "./RunPane";
import { RunTable } from "./RunTable";
import { useRunPages } from "./runPages";

const STATUSES = ["", "done", "running", "waiting", "partial", "refused", "failed", "cancelled"] as const;
const PERIODS = [
  ["", "Any time"],
  ["1", "Today"],
  ["7", "Last 7 days"],
  ["30", "Last 30 days"],
] as const;
const EVERYTHING: Filters = { search: "", status: "", source: "", days: "" };

export default function RunsView({ run, other }: { run: string | null; other: string | null }) {
  const [filters, setFilters] = useState<Filters>(EVERYTHING);
  const [picked, setPicked] = useState<RunSummary[]>([]);
  const { search, status, source, days } = filters;
  const { list, runs, total, more } = useRunPages({
    search: useDeferredValue(search),
    status,
    source,
    since: since(days),
  });
  const current = other ?? run ?? runs[0]?.run_id ?? null;
  const compared = other ? run : null;
  const pick = useCallback((chosen: RunSummary) => {
    setPicked((now) => {
      const others = now.filter((known) => known.run_id !== chosen.run_id);
      return others.length < now.length ? others : [...now, chosen].slice(-2);
    });
  }, []);

  return (
    <main className={`rr ${run ? "one" : ""}`}>
      <section className="pane" aria-label="Runs">
        <div className="head">
          <h2>Runs</h2>
          <span className="dim num grow">{list.data ? count(total) : ""}</span>
          <SearchField
            label="Find a run"
            className="fs"
            value={search}
            onChange={(value) => setFilters({ ...filters, search: value })}
          />
        </div>
        <FilterBar
          filters={filters}
          sources={[...new Set(runs.flatMap((known) => known.sources))]}
          onChange={setFilters}
        />
        <div className="scroll">
          {list.problem && !list.data && <ProblemNotice problem={list.problem} onRetry={list.reload} />}
          {!list.data && !list.problem && <SkeletonRows rows={12} columns={4} />}
          {list.data && (
            <RunTable
              runs={runs}
              total={total}
              current={[current, compared]}
              picked={picked}
              onPick={pick}
              onEnd={() => void more()}
            />
          )}
          {list.data && !runs.length && <NoRuns filters={filters} onClear={() => setFilters(EVERYTHING)} />}
        </div>
        <footer className="foot">
          <span className="grow dim">
            {picked.length
              ? `${picked.length} selected, ${picked.map((known) => shortId(known.run_id)).join(" and ")}`
              : "Select two runs to compare them"}
          </span>
          <button
            type="button"
            className="btn small"
            disabled={picked.length !== 2}
            title={picked.length === 2 ? "Compare" : "Select two runs first"}
            onClick={() => compare(picked)}
          >
            <GitCompareArrows className="i i-s" aria-hidden />
            Compare
          </button>
        </footer>
      </section>
      {current && <RunPane key={`${current} ${compared}`} run={current} compared={compared} />}
      {!current && <section className="pane hide-s" aria-label="Run" />}
    </main>
  );
}

/** The two runs to compare; the older one is A. A filter may have hidden them from the list since they were picked. */
function compare(picked: RunSummary[]): void {
  const [older, younger] = picked.toSorted((a, b) => a.created_at.localeCompare(b.created_at));
  if (younger && older) navigate(address("runs", older.run_id, younger.run_id));
}

function since(days: string): string | null {
  return days ? new Date(Date.now() - (Number(days) - 1) * 86_400_000).toISOString().slice(0, 10) + "T00:00:00Z" : null;
}

interface Filters {
  search: string;
  status: string;
  source: string;
  days: string;
}

function NoRuns({ filters, onClear }: { filters: Filters; onClear: () => void }) {
  if (!Object.values(filters).some(Boolean))
    return <p className="none dim">No questions yet. Every question that you ask is listed here as a run.</p>;
  return (
    <p className="none dim">
      No run fits these filters.{" "}
      <button type="button" className="link" onClick={onClear}>
        Show all runs
      </button>
    </p>
  );
}

function FilterBar({
  filters,
  sources,
  onChange,
}: {
  filters: Filters;
  sources: string[];
  onChange: (filters: Filters) => void;
}) {
  const [known, setKnown] = useState<string[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ids matter, not the identity of the list.
  useEffect(() => setKnown((now) => [...new Set([...now, ...sources])].sort()), [sources.join()]);
  return (
    <div className="filters">
      <Choice
        label="Status"
        value={filters.status}
        options={STATUSES.map((status) => [status, status ? runState(status)[1] : "Any status"])}
        onChange={(status) => onChange({ ...filters, status })}
      />
      <Choice
        label="Source"
        value={filters.source}
        options={[["", "Any source"], ...known.map((name): [string, string] => [name, name])]}
        onChange={(source) => onChange({ ...filters, source })}
      />
      <Choice label="Time" value={filters.days} options={PERIODS} onChange={(days) => onChange({ ...filters, days })} />
    </div>
  );
}

function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}) {
  return (
    <select
      className={`chip ${value ? "on" : ""}`}
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      {options.map(([name, word]) => (
        <option key={name} value={name}>
          {word}
        </option>
      ))}
    </select>
  );
}
