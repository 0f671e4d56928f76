import { useCallback, useEffect, useRef } from "react";
import { api, Problem } from "../api/client";
import { reach } from "../api/reach";
import { createStore, type Store, useStore } from "./store";

export interface Fetched<T> {
  data: T | null;
  problem: Problem | null;
  loading: boolean;
  reload: () => void;
}

interface Entry {
  data: unknown;
  problem: Problem | null;
  loading: boolean;
  /** Number of the request that gave this. A late reply to an earlier request is ignored. */
  told: number;
}

const entries = new Map<string, Store<Entry>>();
/** How many components look at an address now. */
const watchers = new Map<string, number>();
const NOTHING: Entry = { data: null, problem: null, loading: false, told: 0 };
let asked = 0;

/** Data from an address of the API. Components share it, and see the stored data at once when they mount again. */
export function useFetched<T>(address: string | null): Fetched<T> {
  const store = entryOf(address ?? "");
  const entry = useStore(store);
  useEffect(() => {
    if (!address) return undefined;
    watchers.set(address, (watchers.get(address) ?? 0) + 1);
    void load(address);
    return () => void watchers.set(address, (watchers.get(address) ?? 1) - 1);
  }, [address]);
  const reload = useCallback(() => {
    if (address) void load(address);
  }, [address]);
  return { data: entry.data as T | null, problem: entry.problem, loading: entry.loading, reload };
}

/** Keeps the previous data until new data arrives, so that a list stays visible while a new filter loads. */
export function useSteady<T>(fetched: Fetched<T>): Fetched<T> {
  const last = useRef<T | null>(null);
  if (fetched.data !== null) last.current = fetched.data;
  return { ...fetched, data: fetched.problem ? fetched.data : last.current };
}

/**
 * Looks again at every watched address that begins like this; what nobody watches is forgotten. Its place is kept: a
 * component that has just been drawn looks there, and is counted only a moment later.
 */
export function refresh(prefix: string): void {
  for (const [address, store] of entries) {
    if (!address.startsWith(prefix)) continue;
    if (watchers.get(address)) void load(address);
    else store.set({ ...NOTHING, told: asked });
  }
}

// When the server is back, fetch everything visible again.
reach.subscribe(() => reach.get().state === "live" && refresh(""));

function entryOf(address: string): Store<Entry> {
  let store = entries.get(address);
  if (!store) {
    store = createStore(NOTHING);
    if (address) entries.set(address, store);
  }
  return store;
}

async function load(address: string): Promise<void> {
  const store = entryOf(address);
  const told = ++asked;
  const tell = (entry: Pick<Entry, "data" | "problem">) => {
    if (store.get().told < told) store.set({ ...entry, loading: false, told });
  };
  store.set((now) => ({ ...now, loading: true }));
  try {
    tell({ data: await api.get(address), problem: null });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    tell({ data: store.get().data, problem: error });
  }
}
