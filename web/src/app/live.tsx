import { createStore, useStore } from "../shared/store";

const said = createStore("");

/** Speaks to screen readers: starts, ends and failures, not every count. */
export function say(text: string): void {
  said.set(text);
}

export function LiveRegion() {
  return (
    <div className="vh" role="status" aria-live="polite">
      {useStore(said)}
    </div>
  );
}
