import { useState } from "react";

/** State that is kept in local storage, so that it survives a reload. */
export function useRemembered(name: string, initial: number): [number, (value: number) => void] {
  const [value, setValue] = useState(() => Number(remembered(name)) || initial);
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
    // The browser forbids storage, so the choice lasts until the page is closed.
  }
}

export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}
