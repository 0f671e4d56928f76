import { createStore } from "../shared/store";

/** Whether the page can be used, or somebody has to sign in or to choose a password first. */
export type Door =
  | { state: "open" }
  | { state: "closed"; problem?: string }
  | { state: "invited"; token: string; chooseName: boolean };

const REFUSALS: Record<string, string> = {
  provider_unreachable: "The identity provider cannot be reached. Try again in a while.",
  sign_in_unknown: "The provider knows you, but you are not among the users here. Ask whoever runs this installation.",
  sign_in_name_taken: "Your name belongs to another account here. Ask whoever runs this installation.",
  sign_in_failed: "Your account is disabled here.",
  sign_in_refused:
    "This sign-in was finished already, took too long, or was begun in another browser. Begin once more.",
};

/** What went wrong at an identity provider, by its code. Other text is never taken from an address. */
export function refusal(code: string): string {
  return (
    REFUSALS[code] ?? `Signing in at the provider did not work (${code}). Whoever runs this installation can see why.`
  );
}

export function doorAt(hash: string): Door {
  const refused = /^#sign-in-problem=([a-z_]{1,60})$/.exec(hash);
  if (refused?.[1]) return { state: "closed", problem: refused[1] };
  const found = /^#(setup|invitation)=([\w-]+)$/.exec(hash);
  if (!found?.[2]) return { state: "open" };
  return { state: "invited", token: found[2], chooseName: found[1] === "setup" };
}

export const door = createStore<Door>({ state: "open" });

/** Looks for a one-time link in the address, now and whenever one is opened where the page is open already. */
export function watchLinks(): void {
  const look = () => {
    const found = doorAt(location.hash);
    if (found.state !== "open") door.set(found);
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
