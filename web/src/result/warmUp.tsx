import { createRoot } from "react-dom/client";
import { NEW_RUN } from "../run/run";
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

/** Draws a hidden table once while the page is idle. Code is slow when it first runs, so the first real table appears sooner. */
export function warmUpTable(): void {
  const stage = createRoot(document.createElement("div"));
  stage.render(<RunRows run={RUN} />);
  (window.requestIdleCallback ?? setTimeout)(() => stage.unmount());
}
