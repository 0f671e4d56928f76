import { useCallback, useEffect } from "react";
import { api, Problem } from "../api/client";
import { createStore, useStore, type Store } from "./store";

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
}

const entries = new Map<string, Store<Entry>>();
/** How many components look at an address now. */
const watchers = new Map<string, number>();
const NOTHING: Entry = { data: null, problem: null, loading: false };

/** What is at this address of the API; the same for all who ask, and shown again at once when they come back. */
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

/** Looks again at every watched address that begins like this; what nobody watches is forgotten. */
export function refresh(prefix: string): void {
  for (const address of [...entries.keys()].filter((known) => known.startsWith(prefix))) {
    if (watchers.get(address)) void load(address);
    else entries.delete(address);
  }
}

function put(address: string, data: unknown): void {
  entryOf(address).set({ data, problem: null, loading: false });
}

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
  store.set((now) => ({ ...now, loading: true }));
  try {
    put(address, await api.get(address));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    store.set((now) => ({ ...now, problem: error, loading: false }));
  }
}
