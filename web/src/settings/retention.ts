import type { RetentionReport } from "../api/types";
import { bytes, count, moment, plural } from "../shared/format";

/** The limits and contents of the store, as names and values to show. */
export function retentionFacts(report: RetentionReport, now = new Date()): [string, string][] {
  const limits = [
    report.keep_days && plural(report.keep_days, "day"),
    report.keep_runs && plural(report.keep_runs, "run"),
    report.keep_mb && `${count(report.keep_mb)} MB`,
  ].filter(Boolean);
  const removed = plural(report.last_pruned?.runs ?? 0, "run");
  return [
    ["Kept", limits.length ? `At most ${limits.join(", ")}` : "Everything"],
    ["Stored runs", `${count(report.runs)}, of which ${count(report.protected_runs)} are pinned, shared or golden`],
    ["Space", `${bytes(report.database_bytes)} in the database, ${bytes(report.artifact_bytes)} of results`],
    ["Last pruned", report.pruned_at ? `${moment(report.pruned_at, now)}, ${removed} removed` : "Never"],
  ];
}
