import { expect, it } from "vitest";
import { retentionFacts } from "./retention";

const NOW = new Date("2026-03-05T12:00:00");
const untouched = {
  keep_days: null,
  keep_runs: null,
  keep_mb: null,
  runs: 1234,
  protected_runs: 2,
  database_bytes: 12_300_000,
  artifact_bytes: 0,
  pruned_at: null,
  last_pruned: null,
};

it("says that everything is kept when no limit is set", () => {
  expect(retentionFacts(untouched, NOW)).toEqual([
    ["Kept", "Everything"],
    ["Stored runs", "1,234, of which 2 are pinned, shared or golden"],
    ["Space", "12 MB in the database, 0 bytes of results"],
    ["Last pruned", "Never"],
  ]);
});

it("names the limits, and what the last pruning removed", () => {
  const last_pruned = { runs: 1, threads: 0, artifacts: 3, bytes: 2048 };
  const limited = { ...untouched, keep_days: 90, keep_mb: 5000, pruned_at: "2026-03-05T11:30:00", last_pruned };
  const facts = Object.fromEntries(retentionFacts(limited, NOW));
  expect(facts.Kept).toBe("At most 90 days, 5,000 MB");
  expect(facts["Last pruned"]).toBe("11:30, 1 run removed");
});
