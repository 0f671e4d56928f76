import { remember } from "./remembered";
import { createStore } from "./store";

/** The number of theme changes. Charts, which are drawn with computed colours, redraw when it changes. */
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
