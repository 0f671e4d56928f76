import { createRoot } from "react-dom/client";
import { NEW_RUN } from "../ask/run";
import { RunRows } from "./TableTab";

const RUN = {
  ...NEW_RUN,
  columns: [
    { name: "n", type: "integer" as const },
    { name: "name", type: "text" as const },
  ],
  rowCount: 1,
  rows: [[1, "one"]],
};

/** What runs for the first time runs slowly: a table is drawn once, out of sight, before anybody waits for one. */
export function rehearseTable(): void {
  const stage = createRoot(document.createElement("div"));
  stage.render(<RunRows run={RUN} />);
  (window.requestIdleCallback ?? setTimeout)(() => stage.unmount());
}
