import type { ModelCheck } from "../api/types";
import { duration, money, plural } from "../shared/format";
import type { State } from "../shared/Status";

interface Told {
  state: State;
  word: string;
  cost: string;
  reasons: string[];
}

/** What trying a model has shown, in words. One without tools works, but for exploring. */
export function told(check: ModelCheck): Told {
  const trials = Object.entries(check.checks);
  const failed = trials.filter(([, trial]) => !trial.ok);
  const slowest = Math.max(0, ...trials.map(([, trial]) => trial.ms));
  const lacking = failed.length ? `, but not: ${failed.map(([name]) => name).join(", ")}` : "";
  return {
    state: !check.works ? "error" : failed.length ? "warn" : "ok",
    word: check.works ? `Works${lacking}` : "Does not work",
    cost: [duration(slowest), plural(check.tokens, "token"), money(check.cost_usd)].join(", "),
    reasons: failed.map(([name, { error }]) =>
      [`${name}:`, error?.message ?? "It did not work.", error?.hint].filter(Boolean).join(" "),
    ),
  };
}
