import {
  BookOpen,
  ChevronLeft,
  Database,
  Ellipsis,
  FileSpreadsheet,
  type LucideIcon,
  Plus,
  RefreshCw,
  Trash2,
  Upload,
  Waypoints,
} from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { api, path } from "../api/client";
import type { Catalog, OktaTenantList, SourceList, SourceSummary } from "../api/types";
import { addFiles } from "../data/upload";
import { ExploreTab } from "../explore/ExploreTab";
import { Bar } from "../run/StepList";
import { refresh, useFetched } from "../shared/fetched";
import { age, bytes, clock, count, duration, plural } from "../shared/format";
import { Link } from "../shared/Link";
import { Menu } from "../shared/Menu";
import { ProblemNotice } from "../shared/Notice";
import { address, navigate } from "../shared/router";
import { SkeletonRows } from "../shared/Skeleton";
import { type State, StateIcon, Status, toneOf } from "../shared/Status";
import { panelProps, Tabs } from "../shared/Tabs";
import { toast } from "../shared/toasts";
import { AddSource } from "./AddSource";
import { HistoryTab } from "./HistoryTab";
import { NamesTab } from "./NamesTab";
import { RelationshipsTab } from "./RelationshipsTab";
import { TablesTab } from "./TablesTab";
import { TenantTab } from "./TenantTab";

type Tab = "sync" | "tables" | "explore" | "relationships" | "names" | "history";
const READING_MS = 1_000;
const RESTING_MS = 10_000;
const SLOW_S = 5;
const MB = 1_000_000;

interface Props {
  source: string | null;
  table: string | null;
  /** `explore` opens that tab. */
  part: string | null;
}

export default function SourcesView({ source, table, part }: Props) {
  const list = useFetched<SourceList>("/sources");
  const sources = list.data?.sources ?? [];
  const adding = source === "+";
  const usual = sources.find((known) => known.default) ?? sources[0] ?? null;
  const current = adding ? null : source ? (sources.find((known) => known.name === source) ?? null) : usual;
  usePolling(list.reload, sources.some((known) => known.state === "reading") ? READING_MS : RESTING_MS);
  return (
    <main className={`so ${source ? "one" : ""}`}>
      <aside className="pane side" aria-label="Sources">
        <div className="head">
          <h2 className="grow">Sources</h2>
          <Link className="btn small" href="/sources/+">
            <Plus className="i i-s" aria-hidden />
            Add
          </Link>
        </div>
        <div className="scroll">
          {list.problem && !list.data && <ProblemNotice problem={list.problem} onRetry={list.reload} />}
          <ul className="srcs">
            {sources.map((known) => (
              <SourceRow key={known.name} source={known} current={known.name === current?.name} />
            ))}
          </ul>
        </div>
        {list.data && <DropBox limits={list.data} />}
      </aside>
      {adding && <AddSource />}
      {!adding && current && <SourcePane key={`${current.name}/${part}`} source={current} table={table} part={part} />}
      {!adding && !current && (
        <section className="pane">
          {list.data && source && (
            <div className="cen">
              <p className="h">There is no source called {source}</p>
              <p className="mid">It may have been removed or renamed, or the link was cut.</p>
              <Link className="btn small" href="/sources">
                All sources
              </Link>
            </div>
          )}
          {!list.data && !list.problem && <SkeletonRows rows={8} columns={4} />}
        </section>
      )}
    </main>
  );
}

function usePolling(look: () => void, every: number): void {
  useEffect(() => {
    const timer = setInterval(() => document.hidden || look(), every);
    return () => clearInterval(timer);
  }, [look, every]);
}

const ICONS: [RegExp, LucideIcon][] = [
  [/graph|okta|ladybug/i, Waypoints],
  [/document/i, BookOpen],
  [/file|csv|parquet|excel|json/i, FileSpreadsheet],
];

const STATES: Record<SourceSummary["state"], [State, string]> = {
  ready: ["ok", "Ready"],
  reading: ["running", "Reading"],
  unread: ["idle", "Not read yet"],
  failed: ["error", "Could not be read"],
};

const KINDS: Record<string, string> = { files: "Files", sqlite: "SQLite", duckdb: "DuckDB", postgres: "PostgreSQL" };

function SourceRow({ source, current }: { source: SourceSummary; current: boolean }) {
  const Icon = ICONS.find(([pattern]) => pattern.test(`${source.kind} ${source.origin}`))?.[1] ?? Database;
  const [state, word] = STATES[source.state];
  return (
    <li>
      <Link
        className={`src ${current ? "cur" : ""}`}
        href={address("sources", source.name)}
        aria-current={current ? "true" : undefined}
      >
        <span className="ic">
          <Icon className="i" aria-hidden />
        </span>
        <span className="grow">
          <b className="clip">{source.name}</b>
          <span className="m clip">
            {[
              source.kind && (KINDS[source.kind] ?? source.kind),
              source.tables === null ? word : plural(source.tables, "table"),
            ]
              .filter(Boolean)
              .join(" · ")}
          </span>
          {source.progress && <Progress progress={source.progress} />}
          {source.error && (
            <span className="m warn clamp" title={source.error.message}>
              {source.error.message}
            </span>
          )}
        </span>
        <span className={toneOf(state)} title={word}>
          <StateIcon state={state} />
          <span className="vh">{word}</span>
        </span>
      </Link>
    </li>
  );
}

/** The progress of indexing: counted while tables are read, otherwise the name of the stage. */
function Progress({ progress }: { progress: NonNullable<SourceSummary["progress"]> }) {
  const { message, done, total, seconds, counted } = progress;
  return (
    <span className="prog">
      {total > 0 && <Bar done={done} total={total} />}
      <span className="m num">
        {[
          counted ? `${message}, ${count(done)} of ${count(total)}` : message,
          seconds >= SLOW_S && duration(seconds * 1_000),
        ]
          .filter(Boolean)
          .join(" · ")}
      </span>
    </span>
  );
}

function DropBox({ limits }: { limits: SourceList }) {
  const files = useRef<HTMLInputElement>(null);
  const most = Math.min(limits.upload_mb, limits.upload_room_mb);
  if (!limits.upload_mb) return <p className="none dim caption">Adding sources is turned off here.</p>;
  return (
    <button type="button" className="drop" onClick={() => files.current?.click()}>
      <Upload className="i" aria-hidden />
      <span>
        <b>Drop files or a folder here</b>
        {most
          ? `CSV, Parquet, Excel, JSON, SQLite, up to ${bytes(most * MB)} each`
          : "There is no room for more: remove a source first."}
      </span>
      <input
        ref={files}
        type="file"
        hidden
        multiple
        aria-label="Files to add"
        onChange={(event) => void addFiles([...(event.target.files ?? [])])}
      />
    </button>
  );
}

interface PaneProps extends Pick<Props, "table" | "part"> {
  source: SourceSummary;
}

function SourcePane({ source, table, part }: PaneProps) {
  const catalog = useFetched<Catalog>(path`/datasets/${source.name}/schema`);
  const tenants = useFetched<OktaTenantList>("/okta");
  const tenant = tenants.data?.tenants.find((known) => [known.source, known.graph].includes(source.name));
  const [chosen, setTab] = useState<Tab | null>(part === "explore" ? "explore" : table ? "tables" : null);
  const tab = chosen ?? (tenant ? "sync" : "tables");
  const state = `${source.fingerprint} ${source.state === "failed"}`;
  const shown = useRef(state);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the component is mounted anew for another source.
  useEffect(() => {
    if (shown.current === state) return;
    shown.current = state;
    refresh(path`/datasets/${source.name}/schema`);
    refresh(path`/sources/${source.name}/`);
  }, [state]);
  const tables = catalog.data?.tables ?? [];
  const names = tables.flatMap((known) => [known, ...known.columns]).reduce((n, named) => n + named.synonyms.length, 0);
  return (
    <section className="pane" aria-label={`Source ${source.name}`}>
      <div className="head">
        <Link className="btn ghost icon to-list" href="/sources" aria-label="Back to the sources">
          <ChevronLeft className="i" aria-hidden />
        </Link>
        <h2 className="clip">{source.name}</h2>
        <span className="mid clip grow where" title={source.location}>
          {[source.kind && (KINDS[source.kind] ?? source.kind), "read only"].filter(Boolean).join(", ")}{" "}
          <span className="dim">{source.origin === "bundled" ? "bundled with Answerable" : source.location}</span>
        </span>
        <Freshness source={source} />
        <button
          type="button"
          className="btn small"
          disabled={source.state === "reading"}
          onClick={() => void lookAgain(source)}
        >
          <RefreshCw className="i i-s" aria-hidden />
          {source.state === "reading" ? "Reading …" : "Check now"}
        </button>
        {source.removable && (
          <Menu
            label={`More for ${source.name}`}
            className="btn ghost icon small"
            items={[
              {
                label: "Remove this source",
                icon: <Trash2 className="i i-s" />,
                danger: true,
                onSelect: () => void removeSource(source),
              },
            ]}
          >
            <Ellipsis className="i i-s" aria-hidden />
          </Menu>
        )}
      </div>
      <Tabs
        label={`Parts of ${source.name}`}
        current={tab}
        onSelect={setTab}
        tabs={[
          ...(tenant ? [{ name: "sync" as const, label: "Sync" }] : []),
          { name: "tables", label: "Tables", extra: <span className="n">{tables.length || ""}</span> },
          { name: "explore", label: "Explore" },
          {
            name: "relationships",
            label: "Relationships",
            extra: <span className="n">{catalog.data?.relationships.length || ""}</span>,
          },
          { name: "names", label: "Names", extra: <span className="n">{names || ""}</span> },
          { name: "history", label: "History" },
        ]}
      />
      {tenant && tab === "sync" && (
        <div className="panel" {...panelProps(tab)}>
          <TenantTab name={tenant.name} />
        </div>
      )}
      {catalog.problem && !catalog.data && (
        <div className="pad">
          <ProblemNotice problem={catalog.problem} onRetry={catalog.reload} />
        </div>
      )}
      {!catalog.data && !catalog.problem && source.progress && (
        <div className="pad">
          <Status state="running">{source.name} is being read. It can be asked as soon as that is done.</Status>
          <Progress progress={source.progress} />
        </div>
      )}
      {!catalog.data && !catalog.problem && tab !== "sync" && <SkeletonRows rows={8} columns={5} />}
      {catalog.data && tab !== "sync" && (
        <div className="panel" {...panelProps(tab)}>
          {tab === "tables" && (
            <TablesTab
              catalog={catalog.data}
              source={source.name}
              chosen={table}
              onRelationships={() => setTab("relationships")}
            />
          )}
          {tab === "explore" && <ExploreTab source={source.name} tables={tables} chosen={table} />}
          {tab === "relationships" && <RelationshipsTab catalog={catalog.data} source={source.name} />}
          {tab === "names" && <NamesTab source={source.name} />}
          {tab === "history" && <HistoryTab source={source.name} />}
        </div>
      )}
    </section>
  );
}

function Freshness({ source }: { source: SourceSummary }) {
  if (source.state === "failed") return <Status state="error">Could not be read</Status>;
  if (!source.last_sync) return null;
  return (
    <Status state="ok">
      Data last updated {clock(source.last_sync)}, {age(source.last_sync)} ago
    </Status>
  );
}

async function lookAgain(source: SourceSummary): Promise<void> {
  await api.post(path`/sources/${source.name}/sync`);
  refresh("/sources");
}

/** Closes the pane of the source, so that nothing loads its data any more, and then removes the source. */
async function removeSource(source: SourceSummary): Promise<void> {
  navigate("/sources");
  await api.remove(path`/sources/${source.name}`);
  toast(`${source.name} was removed. Its answers stay.`);
  refresh("/sources");
}
