import { X } from "lucide-react";
import type { Problem } from "../api/client";
import { type State, StateIcon, toneOf } from "./Status";
import { createStore, useStore } from "./store";

interface Toast {
  id: number;
  text: string;
  state: State;
  action?: { label: string; run: () => void };
}

const SHOWN_MS = 6_000;
const toasts = createStore<Toast[]>([]);
let last = 0;

/** Shows one line for six seconds. Not for anything that needs a decision. */
export function toast(text: string, options: Partial<Pick<Toast, "state" | "action">> = {}): void {
  const id = ++last;
  toasts.set((now) => [...now.slice(-3), { id, text, state: "ok", ...options }]);
  setTimeout(() => dismiss(id), SHOWN_MS);
}

/** What was wrong with a press, and what helps. */
export function tell(problem: Problem): void {
  toast([problem.message, problem.hint].filter(Boolean).join(" "), { state: "error" });
}

function dismiss(id: number): void {
  toasts.set((now) => now.filter((known) => known.id !== id));
}

export function Toasts() {
  return (
    <div className="toasts" role="status" aria-live="polite">
      {useStore(toasts).map(({ id, text, state, action }) => (
        <div key={id} className="toast float">
          <span className={toneOf(state)}>
            <StateIcon state={state} />
          </span>
          <span className="grow">{text}</span>
          {action && (
            <button
              type="button"
              className="btn ghost small"
              onClick={() => {
                dismiss(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" className="btn ghost icon small" aria-label="Close" onClick={() => dismiss(id)}>
            <X className="i i-s" aria-hidden />
          </button>
        </div>
      ))}
    </div>
  );
}
