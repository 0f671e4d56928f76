import { remember } from "../shared/remembered";
import { createStore } from "../shared/store";

/** Counts the changes of theme: what is drawn with computed colours watches it. */
export const themeChanges = createStore(0);

export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function switchTheme(): void {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  remember("theme", next);
  themeChanges.set((n) => n + 1);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => themeChanges.set((n) => n + 1));
