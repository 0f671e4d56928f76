import { createStore } from "../shared/store";

/** Whether the page can be used, or somebody has to sign in or to choose a password first. */
export type Door = { state: "open" } | { state: "closed" } | { state: "invited"; token: string; chooseName: boolean };

export function doorAt(hash: string): Door {
  const found = /^#(setup|invitation)=([\w-]+)$/.exec(hash);
  if (!found?.[2]) return { state: "open" };
  return { state: "invited", token: found[2], chooseName: found[1] === "setup" };
}

export const door = createStore<Door>({ state: "open" });

/** Looks for a one-time link in the address, now and whenever one is opened where the page is open already. */
export function watchLinks(): void {
  const look = () => {
    const found = doorAt(location.hash);
    if (found.state === "invited") door.set(found);
  };
  look();
  window.addEventListener("hashchange", look);
}

/** The server has answered that somebody has to sign in. */
export function closeDoor(): void {
  if (door.get().state === "open") door.set({ state: "closed" });
}

/** Loads the page anew, so that nothing stays in it of whoever was here before. Takes the token out of the address. */
export function enter(): void {
  history.replaceState(null, "", location.pathname);
  location.reload();
}
