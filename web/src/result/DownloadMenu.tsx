import { ChevronDown, Download } from "lucide-react";
import { API, path } from "../api/client";
import type { RunView } from "../ask/run";
import { Menu } from "../shared/Menu";

const FORMATS = [
  ["csv", "CSV", "for any program"],
  ["xlsx", "Excel", "formatted"],
  ["parquet", "Parquet", "with types"],
  ["ndjson", "JSON", "one object a line"],
  ["arrow", "Arrow", "as computed"],
] as const;

export function DownloadMenu({ run }: { run: RunView }) {
  const rows = run.answer?.row_count ?? 0;
  const why = !run.answer ? "Download opens when the last row is in" : rows === 0 ? "There are no rows to download" : undefined;
  return (
    <div className="download">
      <Menu
        label="Download"
        disabled={why}
        items={FORMATS.map(([format, label, note]) => ({
          label,
          note,
          href: `${API}${path`/runs/${run.id ?? ""}/rows`}?format=${format}`,
          download: `${run.id}.${format}`,
        }))}
      >
        <Download className="i i-s" aria-hidden />
        <span className="hide-s">Download</span>
        <ChevronDown className="i i-xs" aria-hidden />
      </Menu>
    </div>
  );
}
