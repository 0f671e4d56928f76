import { type ComponentType, lazy } from "react";
import { reached } from "../api/reach";

/** A part of the page that is fetched when it is needed; what could not be fetched, as soon as the server is back. */
export function later<P>(load: () => Promise<{ default: ComponentType<P> }>) {
  return lazy(() => load().catch(() => reached().then(load)));
}
