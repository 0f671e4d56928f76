import { Columns3, Copy, ListFilter } from "lucide-react";
import { useMemo, useState } from "react";
import { asTabbed, type CellFormat, formatOf, plainFormat } from "../answer/cells";
import { labelOf } from "../answer/figure";
import { NothingFound } from "../answer/NothingFound";
import { type RowOrder, type RowSource, readRows } from "../answer/rows";
import type { Json } from "../api/types";
import { isOver, type RunView } from "../run/run";
import { Dialog } from "../shared/Dialog";
import { SearchField } from "../shared/Field";
import { count, plural } from "../shared/format";
import { Status } from "../shared/Status";
import { toast } from "../shared/toasts";
import { ColumnsMenu } from "./ColumnsMenu";
import { Grid } from "./Grid";
import type { Cursor } from "./gridKeys";
import type { LitCell } from "./litCell";
import { type TableView, useTableView } from "./tableView";
import { useTotals } from "./totals";
import { useRows } from "./useRows";

const MOST_COPIED = 10_000;

export function TableTab({
  run,
  lit,
  view,
  onCheck,
}: {
  run: RunView;
  lit: LitCell | null;
  view: TableView;
  onCheck?: () => void;
}) {
  const { order, hidden } = view;
  const [opened, setOpened] = useState<{ name: string; value: Json } | null>(null);
  const source = useRows(run, order);
  const totals = useTotals(run.answer, useFormats(run), order.search);
  const { formats } = totals;
  const cursor = useMemo<Cursor | null>(
    () => (lit && lit.row !== null && lit.column !== null ? { row: lit.row, column: lit.column } : null),
    [lit],
  );
  const streaming = !run.answer && !isOver(run);
  const rowHeight = useRowHeight();
  const sortBy = (column: number) => view.sortBy(run.columns[column]?.name ?? "");

  if (run.answer && run.answer.row_count === 0) return <NothingFound answer={run.answer} onCheck={onCheck} />;

  return (
    <>
      <div className="tool">
        {streaming ? (
          <>
            <Status state="running">{plural(source.count(), "row")} so far</Status>
            <span className="dim">Sorting and downloads are available when all rows have arrived.</span>
          </>
        ) : (
          <>
            <SearchField
              label="Filter rows"
              icon={ListFilter}
              className="grow"
              value={view.search}
              onChange={view.setSearch}
            />
            {order.search && (
              <span className="dim num caption">
                {count(source.count())} of {count(run.rowCount ?? 0)}
              </span>
            )}
            <ColumnsMenu formats={formats} hidden={hidden} onHidden={view.setHidden}>
              <Columns3 className="i i-s" aria-hidden />
              Columns <span className="dim">{formats.length - hidden.size}</span>
            </ColumnsMenu>
            <button type="button" className="btn ghost small hide-s" onClick={() => void copyRows(run, source, order)}>
              <Copy className="i i-s" aria-hidden />
              Copy
            </button>
          </>
        )}
      </div>
      <Grid
        label={`Rows of the answer, ${count(source.count())}`}
        source={source}
        formats={formats}
        hidden={hidden}
        lead={run.answer && labelOf(run.answer)}
        sort={order.sort}
        total={totals.line}
        onSort={sortBy}
        rowHeight={rowHeight}
        lit={cursor}
        onSortBy={sortBy}
        onFilterBy={(value) => view.setSearch(value === null ? "" : String(value))}
        onOpenCell={({ column }, value) => setOpened({ name: formats[column]?.header ?? "", value })}
        onCopied={toast}
      />
      {opened && <CellDialog {...opened} onClose={() => setOpened(null)} />}
    </>
  );
}

/** The rows of a run, without the other tabs of a result. */
export function RunRows({ run }: { run: RunView }) {
  return <TableTab run={run} lit={null} view={useTableView()} />;
}

function useFormats(run: RunView): CellFormat[] {
  const { answer, columns } = run;
  return useMemo(
    () => columns.map((column, i) => (answer ? formatOf(answer, i) : plainFormat(column))),
    [answer, columns],
  );
}

function useRowHeight(): number {
  return useMemo(() => (matchMedia("(max-width: 720px)").matches ? 40 : 32), []);
}

async function copyRows(run: RunView, source: RowSource, order: RowOrder): Promise<void> {
  const most = Math.min(MOST_COPIED, source.count());
  const held = Array.from({ length: most }, (_, i) => source.row(i));
  const whole = held.every((row) => row !== undefined);
  const rows = whole || !run.id ? (held as Json[][]) : (await readRows(run.id, { offset: 0, limit: most, order })).rows;
  await navigator.clipboard.writeText(
    asTabbed(
      run.columns.map((column) => column.name),
      rows,
    ),
  );
  const left = source.count() - most;
  toast(
    left > 0
      ? `The first ${count(most)} rows copied. Download holds them all.`
      : `${plural(most, "row")} copied, with column names`,
  );
}

/** The whole value of the selected cell, because cells cut long values. */
function CellDialog({ name, value, onClose }: { name: string; value: Json; onClose: () => void }) {
  const text = value === null ? "null" : typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
  return (
    <Dialog label={name} className="cell-view" onClose={onClose}>
      <header>
        <h2 className="h grow">{name}</h2>
        <button type="button" className="btn small" autoFocus onClick={onClose}>
          Close
        </button>
      </header>
      <pre className="code" tabIndex={0}>
        {text}
      </pre>
    </Dialog>
  );
}
