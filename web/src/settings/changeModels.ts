import { api, type Problem } from "../api/client";
import type { ModelName, ModelsOverview } from "../api/types";
import { problemOf } from "../shared/change";
import { tell } from "../shared/toasts";

export type Order = { reasoning: string[]; coding: string[] };

/** Changes something about models, and shows it everywhere. Returns what is wrong, if anything is. */
export async function changed(change: Promise<unknown>): Promise<Problem | null> {
  return problemOf(change, "/models", "/usage", "/about");
}

/** The same for a change by one press: what is wrong is said in a toast. */
export async function pressed(change: Promise<unknown>): Promise<boolean> {
  const problem = await changed(change);
  if (problem) tell(problem);
  return problem === null;
}

export function orderOf(models: ModelsOverview): Order {
  const names = (role: string) => models.roles.find((each) => each.role === role)?.models.map(({ name }) => name) ?? [];
  return { reasoning: names("reasoning"), coding: names("coding") };
}

export const arrange = (order: Order) => api.put("/models/order", order);

/** The lists with one model a place further up (-1) or down (1), where it is in them. */
export function moved(names: string[], name: string, by: -1 | 1): string[] {
  const from = names.indexOf(name);
  const to = from + by;
  if (from < 0 || to < 0 || to >= names.length) return names;
  const without = names.filter((each) => each !== name);
  return [...without.slice(0, to), name, ...without.slice(to)];
}

/** Where a model is and what becomes of its key, in one line. */
export function placeOf(model: ModelName): string {
  const key = {
    settings: "Key set, never shown again.",
    environment: "Key in the environment of the server.",
    none: model.local ? "No key needed." : "No key.",
  }[model.key];
  return [model.base_url && `${model.base_url}.`, key, model.local && "Stays on this machine, costs nothing."]
    .filter(Boolean)
    .join(" ");
}
