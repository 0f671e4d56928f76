import { createStore, useStore } from "./store";

export const VIEWS = ["ask", "sources", "graphs", "runs", "evals", "settings"] as const;
export type View = (typeof VIEWS)[number] | "shared" | "nowhere";

export interface Route {
  view: View;
  /** The path after the view: a thread, a source and its table, or a run. */
  parts: string[];
}

export function parseRoute(pathname: string): Route {
  const [first = "ask", ...parts] = pathname.split("/").filter(Boolean).map(decoded);
  const known = ([...VIEWS, "shared"] as string[]).includes(first);
  return known ? { view: first as View, parts } : { view: "nowhere", parts: [] };
}

/** A part of an address as text; as it stands if the address was cut in the middle of a character. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
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
