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
  /** The number of the request that this came from. A late reply to an earlier request is ignored. */
  request: number;
}

const entries = new Map<string, Store<Entry>>();
/** The number of mounted components that use an address. */
const watchers = new Map<string, number>();
const NOTHING: Entry = { data: null, problem: null, loading: false, request: 0 };
let requests = 0;

/** Data from an address of the API. Components share it, and get the cached data at once when they mount again. */
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
 * Loads every address with this prefix again that a component uses, and empties the cache of the others. The store of an
 * emptied entry stays in the map: a component that has just been rendered reads it before its effect counts it as a user.
 */
export function refresh(prefix: string): void {
  for (const [address, store] of entries) {
    if (!address.startsWith(prefix)) continue;
    if (watchers.get(address)) void load(address);
    else store.set({ ...NOTHING, request: requests });
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
  const request = ++requests;
  const setReply = (entry: Pick<Entry, "data" | "problem">) => {
    if (store.get().request < request) store.set({ ...entry, loading: false, request });
  };
  store.set((now) => ({ ...now, loading: true }));
  try {
    setReply({ data: await api.get(address), problem: null });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    setReply({ data: store.get().data, problem: error });
  }
}
