import { Problem } from "../api/client";
import { refresh } from "./fetched";

/** Waits for a change and loads what it has changed again. Returns what is wrong, if anything is. */
export async function problemOf(change: Promise<unknown>, ...prefixes: string[]): Promise<Problem | null> {
  try {
    await change;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error;
  }
  prefixes.forEach(refresh);
  return null;
}
