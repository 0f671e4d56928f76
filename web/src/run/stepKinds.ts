import { useEffect } from "react";
import { api, Problem } from "../api/client";
import { reach } from "../api/reach";
import type { StepKind, StepKindList } from "../api/types";
import { createStore, useStore } from "../shared/store";

/** The kinds of steps that the server can run, by name. The page itself knows no kind: it shows what these say. */
export type StepKinds = ReadonlyMap<string, StepKind>;

const EMPTY: StepKinds = new Map();
export const stepKinds = createStore<StepKinds>(EMPTY);
let fetching: Promise<void> | null = null;

/** Fetched once, by the first component that shows steps: kinds change only when the server starts anew. */
export function useStepKinds(): StepKinds {
  useEffect(() => void fetchOnce(), []);
  return useStore(stepKinds);
}

async function fetchOnce(): Promise<void> {
  if (stepKinds.get() !== EMPTY) return;
  fetching ??= fetchKinds();
  await fetching;
}

async function fetchKinds(): Promise<void> {
  try {
    const { step_kinds: kinds } = await api.get<StepKindList>("/step-kinds");
    stepKinds.set(new Map(kinds.map((kind) => [kind.name, kind])));
  } catch (error) {
    if (!(error instanceof Problem)) throw error; // until the server is back, steps are shown under their ids
  } finally {
    fetching = null;
  }
}

reach.subscribe(() => {
  if (reach.get().state === "live") void fetchOnce();
});

/** The first kind with this product: understanding gives a graph, and presenting gives an answer. */
export function kindProducing(product: StepKind["produces"], kinds: StepKinds): StepKind | undefined {
  return [...kinds.values()].find((kind) => kind.produces === product);
}
