import { Calendar, Hash, Key, type LucideIcon, MessageSquareText, ToggleLeft, Type } from "lucide-react";
import { useState } from "react";
import { CellValue } from "../answer/Cell";
import { cellText, plainFormat } from "../answer/cells";
import { path } from "../api/client";
import type {
  Catalog,
  Column,
  ColumnStatistics,
  Json,
  RelationshipList,
  RowPage,
  Table,
  TableStatistics,
} from "../api/types";
import { columnFormat } from "../result/columnFormat";
import { ask, DRAFT, startOver } from "../run/conversations";
import { SearchField } from "../shared/Field";
import { useFetched } from "../shared/fetched";
import { count, plural } from "../shared/format";
import { Link } from "../shared/Link";
import { ProblemNotice } from "../shared/Notice";
import { address, navigate } from "../shared/router";
import { WideTable } from "../shared/WideTable";
import { ColumnPicture } from "./ColumnPicture";
import { Neighbours } from "./Neighbours";
import { SynonymsCell } from "./SynonymsCell";

const SAMPLE = 8;

interface Props {
  catalog: Catalog;
  source: string;
  chosen: string | null;
  onRelationships: () => void;
}

export function TablesTab({ catalog, source, chosen, onRelationships }: Props) {
  const [search, setSearch] = useState("");
  const words = search.trim().toLowerCase();
  const found = catalog.tables.filter(
    (table) =>
      !words ||
      [table.name, ...table.columns.map((column) => column.name)].some((name) => name.toLowerCase().includes(words)),
  );
  const table = catalog.tables.find((known) => known.name === chosen) ?? found[0] ?? catalog.tables[0];
  return (
    <div className="split">
      <nav className="tbls" aria-label="Tables">
        <SearchField label="Find a column" value={search} onChange={setSearch} />
        {found.map((known) => (
          <Link
            key={known.name}
            className={`tb ${known === table ? "cur" : ""}`}
            aria-current={known === table ? "true" : undefined}
            href={address("sources", source, known.name)}
          >
            <span className="clip" dir="auto" title={known.name}>
              {known.name}
            </span>
            <span className="num">{known.row_count === null ? "" : count(known.row_count)}</span>
          </Link>
        ))}
        {!found.length && <p className="none dim caption">No table or column has this name.</p>}
        <ReadingNotes notes={catalog.warnings} />
      </nav>
      {table && <TableDetail key={table.name} table={table} source={source} />}
      {table && <RelatedTables catalog={catalog} table={table} source={source} onExpand={onRelationships} />}
    </div>
  );
}

/** What was left out or assumed when the source was read. */
function ReadingNotes({ notes }: { notes: Catalog["warnings"] }) {
  if (!notes.length) return null;
  return (
    <details className="notes caption">
      <summary>{plural(notes.length, "note")}</summary>
      <ul>
        {notes.map((note) => (
          <li key={note.subject + note.message} dir="auto">
            <b>{note.subject}</b>: {note.message}
          </li>
        ))}
      </ul>
    </details>
  );
}

function TableDetail({ table, source }: { table: Table; source: string }) {
  const statistics = useFetched<TableStatistics>(path`/sources/${source}/tables/${table.name}/statistics`);
  const askAbout = () => {
    startOver();
    navigate("/ask");
    const question = `How many ${(table.label ?? table.name).replace(/_/g, " ")} are there?`;
    void ask(DRAFT, { message: question, sources: [source] }, (thread) =>
      navigate(address("ask", thread), { replace: true }),
    );
  };
  return (
    <div className="mid-col scroll" tabIndex={0}>
      <div className="thead">
        <div className="tname">
          <h3 className="clip" dir="auto" title={table.name}>
            {table.name}
          </h3>
          <p className="mid">
            {table.description ?? (table.label && table.label !== table.name ? table.label : "")}
            {table.synonyms.length > 0 && <> Also called {table.synonyms.join(", ")}.</>}
          </p>
        </div>
        <span className="grow" />
        {table.row_count !== null && <span className="num mid">{plural(table.row_count, "row")}</span>}
        <span className="num mid">{plural(table.columns.length, "column")}</span>
        <button type="button" className="btn small" onClick={askAbout}>
          <MessageSquareText className="i i-s" aria-hidden />
          Ask about it
        </button>
      </div>
      <table className="data cols">
        <thead>
          <tr>
            <th>Column</th>
            <th>Values</th>
            <th className="r">Distinct</th>
            <th className="r">
              Null <span className="u">%</span>
            </th>
            <th className="rg">Range</th>
            <th>Also called</th>
          </tr>
        </thead>
        <tbody>
          {table.columns.map((column) => (
            <ColumnRow
              key={column.name}
              table={table}
              column={column}
              source={source}
              unknown={Boolean(statistics.problem)}
              statistics={statistics.data?.columns.find((known) => known.name === column.name) ?? null}
            />
          ))}
        </tbody>
      </table>
      {statistics.problem && !statistics.data && (
        <ProblemNotice problem={statistics.problem} onRetry={statistics.reload} />
      )}
      {statistics.data?.looked_at && (
        <p className="none dim caption">
          The values drawn are those of the first {plural(statistics.data.looked_at, "row")}.
        </p>
      )}
      <SampleRows table={table} source={source} />
    </div>
  );
}

const TYPE_ICONS: [RegExp, LucideIcon][] = [
  [/int|number|decimal|float/, Hash],
  [/date|time/, Calendar],
  [/bool/, ToggleLeft],
];

interface ColumnProps {
  table: Table;
  column: Column;
  source: string;
  statistics: ColumnStatistics | null;
  /** The statistics could not be loaded. */
  unknown: boolean;
}

function ColumnRow({ table, column, source, statistics, unknown }: ColumnProps) {
  const isKey = table.primary_key.includes(column.name);
  const Icon = isKey ? Key : (TYPE_ICONS.find(([pattern]) => pattern.test(column.type))?.[1] ?? Type);
  const distinct = statistics?.distinct_count ?? column.distinct_count;
  return (
    <tr>
      <td>
        <span className="cn">
          <Icon className="i i-s" aria-hidden />
          <span>
            <span className="mono clip" dir="auto" title={column.name}>
              {column.name}
            </span>
            <span className="m mono">{column.type}</span>
          </span>
        </span>
      </td>
      <td>
        {unknown && !statistics ? (
          <span className="dim caption">not read</span>
        ) : (
          <ColumnPicture column={column} statistics={statistics} rows={table.row_count} />
        )}
      </td>
      <td className="r num">{distinct === null ? "–" : count(distinct)}</td>
      <td className="r">
        <Nulls column={column} statistics={statistics} rows={table.row_count} />
      </td>
      <td className="rg">
        <span className="clip">{range(column, statistics)}</span>
      </td>
      <td className="sy">
        <SynonymsCell source={source} table={table.name} column={column} />
      </td>
    </tr>
  );
}

function Nulls({
  column,
  statistics,
  rows,
}: {
  column: Column;
  statistics: ColumnStatistics | null;
  rows: number | null;
}) {
  const nulls = statistics?.null_count ?? column.null_count;
  if (nulls === null || !rows) return <span className="dim">–</span>;
  if (nulls === 0) return <span className="num">0</span>;
  const share = nulls / rows;
  return (
    <span className="nb num">
      <svg width="24" height="4" aria-hidden>
        <rect className="null-rest" width="24" height="4" rx="2" />
        <rect className="null-part" width={Math.max(1.5, 24 * share)} height="4" rx="2" />
      </svg>
      {(share * 100).toFixed(1)}
    </span>
  );
}

function range(column: Column, statistics: ColumnStatistics | null): string {
  const low = statistics?.minimum ?? column.minimum;
  const high = statistics?.maximum ?? column.maximum;
  const format = plainFormat(column);
  const text = (value: unknown) => cellText(value as Json, format);
  if (low !== null && high !== null && low !== undefined && high !== undefined) return `${text(low)} to ${text(high)}`;
  return column.examples.slice(0, 3).join(", ") + (column.examples.length > 3 ? " …" : "");
}

function SampleRows({ table, source }: { table: Table; source: string }) {
  const page = useFetched<RowPage>(`${path`/sources/${source}/tables/${table.name}/rows`}?limit=${SAMPLE}`);
  if (!page.data) return null;
  const { columns, rows } = page.data;
  const formats = columns.map((column, i) =>
    columnFormat(
      column,
      rows.map((row) => row[i] ?? null),
    ),
  );
  return (
    <>
      <div className="sh">
        <h4 className="grow">First rows</h4>
        <Link
          className="link"
          href="/ask"
          onClick={() => {
            startOver();
            void ask(
              DRAFT,
              { message: `SQL: SELECT * FROM "${table.name.replaceAll('"', '""')}"`, sources: [source] },
              (thread) => navigate(address("ask", thread), { replace: true }),
            );
          }}
        >
          Browse all
        </Link>
      </div>
      <WideTable label="First rows">
        <table className="data samp dense">
          <thead>
            <tr>
              {formats.map((format, i) => (
                <th key={i} className={format.right ? "r" : undefined}>
                  {format.header}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              <tr key={i}>
                {formats.map((format, column) => (
                  <td key={column} className={format.right ? "r" : undefined}>
                    <CellValue value={row[column] ?? null} format={format} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </WideTable>
    </>
  );
}

function RelatedTables({
  catalog,
  table,
  source,
  onExpand,
}: {
  catalog: Catalog;
  table: Table;
  source: string;
  onExpand: () => void;
}) {
  const found = useFetched<RelationshipList>(path`/sources/${source}/relationships`);
  return (
    <Neighbours
      catalog={catalog}
      table={table}
      source={source}
      relationships={found.data?.relationships ?? []}
      onExpand={onExpand}
    />
  );
}
