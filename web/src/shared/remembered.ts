import { useState } from "react";

/** A setting of the page that outlives a reload, where the browser allows it. */
export function useRemembered(name: string, initial: number): [number, (value: number) => void] {
  const [value, setValue] = useState(() => Number(read(name)) || initial);
  return [
    value,
    (next) => {
      setValue(next);
      remember(name, String(next));
    },
  ];
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage is forbidden: the choice lasts as long as the page.
  }
}

function read(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}
