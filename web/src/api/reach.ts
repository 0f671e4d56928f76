import { createStore } from "../shared/store";

/** Whether the server can be reached; if not, when the page tries again. */
export type Reach = { state: "live" } | { state: "lost"; until: number };

export const reach = createStore<Reach>({ state: "live" });

const WAITS = [500, 1_000, 2_000, 4_000, 8_000];
const LOOK_EVERY_MS = 15_000;
const LONGEST_LOOK_MS = 15_000;
const asked = new EventTarget();
let trying: Promise<boolean> | null = null;

/** Resolves as soon as the server answers, however long that takes, to whether it was unreachable. The page shows that meanwhile. */
export function reached(): Promise<boolean> {
  trying ??= tryOften().finally(() => (trying = null));
  return trying;
}

/** Makes everything that waits for the server try again now. */
export function tryNow(): void {
  asked.dispatchEvent(new Event("now"));
}

/** Checks regularly, and whenever the user returns to the page, whether the server can be reached. An idle page sends no other requests. */
export function watchServer(): void {
  const look = () => document.visibilityState === "visible" && void reached();
  setInterval(look, LOOK_EVERY_MS);
  document.addEventListener("visibilitychange", look);
  for (const event of ["focus", "offline"]) window.addEventListener(event, look);
}

async function tryOften(): Promise<boolean> {
  let failures = 0;
  while (!(await answers())) {
    const wait = waitAfter(failures++);
    reach.set({ state: "lost", until: Date.now() + wait });
    await pause(wait);
  }
  if (failures) reach.set({ state: "live" });
  return failures > 0;
}

/** Accepts any reply: only whether the server answers matters. */
async function answers(): Promise<boolean> {
  try {
    await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(LONGEST_LOOK_MS) });
    return true;
  } catch {
    return false;
  }
}

export function waitAfter(failures: number): number {
  return WAITS[Math.min(failures, WAITS.length - 1)] ?? 0;
}

/** Waits until the time is over, the network is back, or the user asks to try now. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(go, milliseconds);
    function go() {
      clearTimeout(timer);
      window.removeEventListener("online", go);
      asked.removeEventListener("now", go);
      resolve();
    }
    window.addEventListener("online", go);
    asked.addEventListener("now", go);
  });
}
