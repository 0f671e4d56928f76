import { createStore, useStore } from "./store";

const said = createStore("");

/** Announces starts, ends and failures to screen readers, but not every change of a count. */
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
