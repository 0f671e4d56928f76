import { useEffect, useRef } from "react";

export type KeyMap = Record<string, (event: KeyboardEvent) => void>;

/**
 * Acts on keys outside of fields: single letters (`n`, `/`, `g a` for two in a row) and, everywhere, those with the
 * command key (`mod+k`; Ctrl where there is no ⌘).
 */
export function useKeys(map: KeyMap): void {
  const current = useRef(map);
  current.current = map;
  useEffect(() => {
    let pending = "";
    let timer: ReturnType<typeof setTimeout>;
    function onKeyDown(event: KeyboardEvent) {
      if (event.defaultPrevented || event.isComposing) return;
      const combo = comboOf(event);
      if (!combo.startsWith("mod+") && combo !== "escape" && isTyping(event.target)) return;
      const action = (pending && current.current[`${pending} ${combo}`]) || current.current[combo];
      clearTimeout(timer);
      pending = combo === "g" ? "g" : "";
      timer = setTimeout(() => (pending = ""), 1_200);
      if (!action) return;
      event.preventDefault();
      action(event);
    }
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

export function comboOf(event: Pick<KeyboardEvent, "key" | "metaKey" | "ctrlKey" | "altKey">): string {
  const modified = event.metaKey || event.ctrlKey ? "mod+" : event.altKey ? "alt+" : "";
  return modified + event.key.toLowerCase();
}

function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  if (document.querySelector("dialog[open]")) return true;
  return Boolean(element?.closest?.("input, textarea, select, [contenteditable], .editor"));
}

export const COMMAND_KEY = /mac|iphone|ipad/i.test(navigator.platform) ? "⌘" : "Ctrl";
