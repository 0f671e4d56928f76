import { useEffect, useRef } from "react";

export type KeyMap = Record<string, (event: KeyboardEvent) => void>;

const CHORD_MS = 1_200;

/**
 * Acts on keys outside of fields: single letters (`n`, `/`), two in a row (`g a`) and, everywhere, those with the
 * command key (`mod+k`; Ctrl where there is no ⌘).
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

/** The keys pressed now, with a `g` before them: the second key of a sequence never counts as a single key. */
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

/** A dialog has the keys to itself; Escape closes it. */
function isDialogOpen(): boolean {
  return document.querySelector("dialog[open]") !== null;
}

export const COMMAND_KEY = /mac|iphone|ipad/i.test(navigator.platform) ? "⌘" : "Ctrl";
