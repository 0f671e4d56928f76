import type { Answer } from "../api/types";
import { age, clock, duration, money, shortId } from "../shared/format";
import { type State, Status } from "../shared/Status";
import { useStore } from "../shared/store";
import { verdicts } from "./verdicts";

/** The line below all rows of an answer: replay verdict, age of the data, cost, duration, run. */
export function Receipt({ answer, ms }: { answer: Answer; ms: number | null }) {
  const verdict = useStore(verdicts)[answer.run_id];
  const [state, word] = verdictWord(verdict?.verdict, answer);
  const { last_sync: sync, mind } = answer.provenance;
  const { cost_usd: cost, input_tokens: read, output_tokens: wrote } = answer.usage;
  const tokens = read + wrote;
  return (
    <div className="receipt">
      <Status state={state}>{word}</Status>
      {sync && <span>{`Data last updated ${clock(sync)}, ${age(sync)} ago`}</span>}
      <span>{tokens ? `${mind}, ${tokens.toLocaleString("en-US")} tokens, ${money(cost)}` : "no model, 0.00 USD"}</span>
      {ms !== null && <span>{duration(ms)}</span>}
      <span className="mono">{shortId(answer.run_id)}</span>
    </div>
  );
}

function verdictWord(verdict: string | undefined, answer: Answer): [State, string] {
  if (verdict === "same") return ["ok", "Same rows on replay"];
  if (verdict === "differs") return ["warn", "Rows differ"];
  if (verdict === "cannot") return ["skipped", "Not replayable"];
  if (answer.status === "partial") return ["warn", "Partial"];
  if (answer.row_count === 0 && answer.kind === "table") return ["ok", "0 rows, and that is the answer"];
  return ["ok", "Recorded"];
}
