import { later } from "../shared/later";

const FILES = {
  sources: () => import("../sources/SourcesView"),
  graphs: () => import("../graphs/GraphsView"),
  runs: () => import("../runs/RunsView"),
  evals: () => import("../evals/EvalsView"),
  settings: () => import("../settings/SettingsView"),
  shared: () => import("../ask/SharedView"),
};

/** Fetches the views that were not opened yet, so that they open at once, even while the server cannot be reached. */
export async function fetchViews(): Promise<void> {
  await Promise.allSettled(Object.values(FILES).map((load) => load()));
}

export const SourcesView = later(FILES.sources);
export const GraphsView = later(FILES.graphs);
export const RunsView = later(FILES.runs);
export const EvalsView = later(FILES.evals);
export const SettingsView = later(FILES.settings);
export const SharedView = later(FILES.shared);
