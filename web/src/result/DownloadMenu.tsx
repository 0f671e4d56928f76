import { ChevronDown, Download } from "lucide-react";
import { API, path, query } from "../api/client";
import type { RunView } from "../run/run";
import { plural } from "../shared/format";
import { Menu, type MenuItem } from "../shared/Menu";
import { choiceInWords, selectionOf, type TableView } from "./tableView";

const FORMATS = [
  ["csv", "CSV", "for any program"],
  ["xlsx", "Excel", "formatted"],
  ["parquet", "Parquet", "with types"],
  ["ndjson", "JSON", "one object a line"],
  ["arrow", "Arrow", "as computed"],
] as const;

/** Downloads all rows. If the view is filtered, sorted or has hidden columns, also downloads the rows as shown. */
export function DownloadMenu({ run, view }: { run: RunView; view: TableView }) {
  const rows = run.answer?.row_count ?? 0;
  const why = !run.answer
    ? "Available when all rows have arrived"
    : rows === 0
      ? "There are no rows to download"
      : undefined;
  const selection = selectionOf(view, run.columns);
  const everything = files(run, null, selection ? `Everything, ${plural(rows, "row")}` : undefined);
  const items = selection ? [...files(run, selection, `As shown: ${choiceInWords(view)}`), ...everything] : everything;
  return (
    <div className="download">
      <Menu label="Download" disabled={why} items={items}>
        <Download className="i i-s" aria-hidden />
        <span className="hide-s">Download</span>
        <ChevronDown className="i i-xs" aria-hidden />
      </Menu>
    </div>
  );
}

function files(run: RunView, selection: string | null, group?: string): MenuItem[] {
  return FORMATS.map(([format, label, note]) => ({
    label,
    note,
    group,
    href: `${API}${path`/runs/${run.id ?? ""}/rows`}${query({ format, selection })}`,
    download: `${run.id}.${format}`,
  }));
}
