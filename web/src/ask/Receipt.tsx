import type { Answer } from "../api/types";
import { verdicts } from "../result/verdicts";
import { age, clock, duration, money, shortId } from "../shared/format";
import { type State, Status } from "../shared/Status";
import { useStore } from "../shared/store";

/** The line below every answer: replay verdict, age of the data, cost. */
export function Receipt({ answer, long = false }: { answer: Answer; long?: boolean }) {
  const verdict = useStore(verdicts)[answer.run_id];
  const [state, word] = verdictWord(verdict?.verdict, answer);
  const { last_sync: sync, mind } = answer.provenance;
  const { cost_usd: cost, input_tokens: read, output_tokens: wrote } = answer.usage;
  const tokens = read + wrote;
  return (
    <div className="receipt">
      <Status state={state}>{word}</Status>
      {sync && <span>{long ? `Data last updated ${clock(sync)}, ${age(sync)} ago` : `data ${age(sync)} old`}</span>}
      <span>{tokens ? `${mind}, ${tokens.toLocaleString("en-US")} tokens, ${money(cost)}` : "no model, 0.00 USD"}</span>
      {long && answer.steps.length > 0 && <span>ran {duration(answer.usage.duration_ms)}</span>}
      {long && <span className="mono">{shortId(answer.run_id)}</span>}
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
