import { api, path } from "../api/client";
import type { Replay } from "../api/types";
import { say } from "../shared/live";
import { createStore } from "../shared/store";

export interface Verdict {
  verdict: Replay["verdict"] | "running";
  text: string;
  at: string;
}

/** The outcomes of replays, by run. */
export const verdicts = createStore<Record<string, Verdict>>({});

export async function replay(run: string): Promise<void> {
  const note = (verdict: Verdict["verdict"], text: string) =>
    verdicts.set((now) => ({ ...now, [run]: { verdict, text, at: new Date().toISOString() } }));
  note("running", "Running the steps again …");
  try {
    const found = await api.post<Replay>(path`/runs/${run}/replay`);
    note(found.verdict, found.verdict === "same" ? aboutData(found) : found.text);
    say(found.text);
  } catch (error) {
    note("cannot", (error as Error).message);
  }
}

/** Says whether the data has changed: the same rows from changed data mean that the change did not matter here. */
function aboutData({ steps }: Replay): string {
  if (steps.some((step) => step.data_changed)) return "The data has changed since, and gives the same rows.";
  return steps.every((step) => step.data_changed === false)
    ? "The data has not changed since."
    : "Whether the data has changed is not known.";
}
