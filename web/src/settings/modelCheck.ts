import type { ModelCheck } from "../api/types";
import { duration, money, plural } from "../shared/format";
import type { State } from "../shared/Status";

interface CheckResult {
  state: State;
  word: string;
  cost: string;
  reasons: string[];
}

/** The outcome of a model check in words. A model without tools can do everything except explore. */
export function checkResult(check: ModelCheck): CheckResult {
  const trials = Object.entries(check.checks);
  const failed = trials.filter(([, trial]) => !trial.ok);
  const slowest = Math.max(0, ...trials.map(([, trial]) => trial.ms));
  const lacking = failed.length ? `, but not: ${failed.map(([name]) => name).join(", ")}` : "";
  return {
    state: !check.works ? "error" : failed.length ? "warn" : "ok",
    word: check.works ? `Works${lacking}` : "Does not work",
    cost: [duration(slowest), plural(check.tokens, "token"), money(check.cost_usd)].join(", "),
    reasons: failed.map(([name, { error }]) =>
      [check.works && `${name}:`, error?.message ?? "It did not work.", error?.hint].filter(Boolean).join(" "),
    ),
  };
}
