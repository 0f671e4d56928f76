import { useEffect, useRef } from "react";

export type KeyMap = Record<string, (event: KeyboardEvent) => void>;

const CHORD_MS = 1_200;

/**
 * Runs actions for keys that are pressed outside of input fields: single keys (`n`, `/`) and sequences (`g a`). Keys with
 * the command key (`mod+k`; Ctrl on systems without ⌘) also work inside fields.
 */
export function useKeys(map: KeyMap): void {
  const current = useRef(map);
  current.current = map;
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      if (event.defaultPrevented || event.isComposing || isDialogOpen()) return;
      const anywhere = pressed.startsWith("mod+") || pressed === "escape";
      if (!anywhere && isTyping(event.target)) return;
      const action = current.current[pressed];
      if (!action) return;
      event.preventDefault();
      action(event);
    }
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

/** The pressed key, with a preceding `g`: the second key of a sequence never counts as a single key. */
let pressed = "";
let began = -CHORD_MS;

document.addEventListener(
  "keydown",
  (event) => {
    const combo = comboOf(event);
    pressed = event.timeStamp - began < CHORD_MS ? `g ${combo}` : combo;
    began = combo === "g" && !isTyping(event.target) ? event.timeStamp : -CHORD_MS;
  },
  { capture: true },
);

export function comboOf(event: Pick<KeyboardEvent, "key" | "metaKey" | "ctrlKey" | "altKey">): string {
  const modified = event.metaKey || event.ctrlKey ? "mod+" : event.altKey ? "alt+" : "";
  return modified + event.key.toLowerCase();
}

function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return Boolean(element?.closest?.("input, textarea, select, [contenteditable], .editor"));
}

/** While a dialog is open, no shortcuts of the page run. */
function isDialogOpen(): boolean {
  return document.querySelector("dialog[open]") !== null;
}

export const COMMAND_KEY = /mac|iphone|ipad/i.test(navigator.platform) ? "⌘" : "Ctrl";
