import { type ComponentType, lazy } from "react";
import { reached } from "../api/reach";

/** A part of the page that is fetched when it is needed; one that could not be, as soon as the server is back. */
export function later<P>(load: () => Promise<{ default: ComponentType<P> }>) {
  return lazy(() =>
    load().catch(async (error: unknown) => {
      if (!(await reached())) throw error;
      return load().catch(reloaded);
    }),
  );
}

/** Browsers remember what they could not fetch for as long as the page is open. */
function reloaded(): Promise<never> {
  location.reload();
  return new Promise(() => {});
}
