import { type ComponentType, lazy } from "react";
import { reached } from "../api/reach";

/** A component that is loaded when it is first rendered. If loading fails, it is tried again when the server is back. */
export function later<P>(load: () => Promise<{ default: ComponentType<P> }>) {
  return lazy(() =>
    load().catch(async (error: unknown) => {
      if (!(await reached())) throw error;
      return load().catch(reloaded);
    }),
  );
}

/** Browsers remember a failed import for as long as the page is open, so the page is reloaded. */
function reloaded(): Promise<never> {
  location.reload();
  return new Promise(() => {});
}
