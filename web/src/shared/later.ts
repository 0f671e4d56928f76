import { type ComponentType, lazy } from "react";
import { reached } from "../api/reach";

/** A part of the page that is fetched when it is needed. If that fails, it is fetched again as soon as the server is back. */
export function later<P>(load: () => Promise<{ default: ComponentType<P> }>) {
  return lazy(() =>
    load().catch(async (error: unknown) => {
      if (!(await reached())) throw error;
      return load().catch(reloaded);
    }),
  );
}

/** Browsers cache a failed import for as long as the page is open. */
function reloaded(): Promise<never> {
  location.reload();
  return new Promise(() => {});
}
