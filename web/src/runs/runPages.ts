import { useEffect, useMemo, useRef, useState } from "react";
import { api, query } from "../api/client";
import type { RunList, RunSummary } from "../api/types";
import { useFetched, useSteady } from "../shared/fetched";
import { runsTogether } from "./runsTogether";

const PAGE = 100;
const NO_RUNS: RunSummary[] = [];

export interface RunFilters {
  search: string;
  status: string;
  source: string;
  since: string | null;
}

/** The runs down to where the user has scrolled. The newest page is polled; older pages are loaded once. */
export function useRunPages(filters: RunFilters) {
  const wanted = { limit: PAGE, ...filters };
  const key = query(wanted);
  const list = useSteady(useFetched<RunList>(`/runs${key}`));
  const [older, setOlder] = useState({ key, runs: NO_RUNS, ended: false });
  const loading = useRef(false);
  const loaded = older.key === key ? older : { key, runs: NO_RUNS, ended: false };
  const runs = useMemo(() => runsTogether(list.data?.runs ?? NO_RUNS, loaded.runs), [list.data, loaded.runs]);
  const total = list.data?.total ?? 0;
  const busy = runs.some((known) => known.status === "running");

  useEffect(() => {
    if (!busy) return undefined;
    const timer = setInterval(list.reload, 2_000);
    return () => clearInterval(timer);
  }, [busy, list.reload]);

  async function more(): Promise<void> {
    const last = runs.at(-1);
    if (loading.current || loaded.ended || !last || runs.length >= total) return;
    loading.current = true;
    try {
      const next = await api.get<RunList>(`/runs${query({ ...wanted, before: last.run_id })}`);
      setOlder({ key, runs: runsTogether(runs, next.runs), ended: !next.next_before });
    } finally {
      loading.current = false;
    }
  }

  return { list, runs, total, more };
}
