import { remember, remembered } from "../shared/remembered";
import { createStore } from "../shared/store";

const NAME = "sources";

/** The sources that were chosen last. A new question goes to them, after a reload too. */
export const lastChosen = createStore<string[]>(remembered(NAME)?.split("\n") ?? []);

export function rememberChosen(sources: string[]): void {
  lastChosen.set(sources);
  remember(NAME, sources.join("\n"));
}
