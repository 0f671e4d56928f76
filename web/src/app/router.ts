import { createStore, useStore } from "../shared/store";

export const VIEWS = ["ask", "sources", "graphs", "runs", "evals", "settings"] as const;
export type View = (typeof VIEWS)[number] | "shared";

export interface Route {
  view: View;
  /** The path after the view: a thread, a source and its table, or a run. */
  parts: string[];
}

export function parseRoute(pathname: string): Route {
  const [first = "ask", ...parts] = pathname.split("/").filter(Boolean).map(decodeURIComponent);
  const known = ([...VIEWS, "shared"] as string[]).includes(first);
  return known ? { view: first as View, parts } : { view: "ask", parts: [] };
}

export function address(view: View, ...parts: string[]): string {
  return `/${[view, ...parts].map(encodeURIComponent).join("/")}`;
}

const route = createStore(parseRoute(location.pathname));
window.addEventListener("popstate", () => route.set(parseRoute(location.pathname)));

export function navigate(to: string, { replace = false } = {}): void {
  if (to === location.pathname) return;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  route.set(parseRoute(location.pathname));
}

export function useRoute(): Route {
  return useStore(route);
}
