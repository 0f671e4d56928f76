import { useEffect, useState } from "react";
import { Problem } from "../api/client";
import { follow } from "../api/stream";
import { foldNodes, type GraphRunState, NO_RUN } from "./nodeStates";

/** The state of a run, live. Null without a run. */
export function useGraphRun(run: string | null): { state: GraphRunState | null; problem: Problem | null } {
  const [state, setState] = useState<GraphRunState | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    setState(run ? NO_RUN : null);
    setProblem(null);
    if (!run) return undefined;
    const stop = new AbortController();
    const onEvents: Parameters<typeof follow>[1]["onEvents"] = (events) =>
      setState((now) => events.reduce(foldNodes, now ?? NO_RUN));
    follow(run, { onEvents, signal: stop.signal }).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      if (!stop.signal.aborted) setProblem(error);
    });
    return () => stop.abort();
  }, [run]);
  return { state, problem };
}
