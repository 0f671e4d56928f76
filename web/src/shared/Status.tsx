import {
  CircleCheck,
  CircleDashed,
  CircleSlash,
  CircleX,
  Clock,
  Hand,
  Lock,
  type LucideIcon,
  TriangleAlert,
} from "lucide-react";

export type State = "ok" | "running" | "waiting" | "warn" | "error" | "idle" | "skipped" | "refused" | "retrying";

const ICONS: Record<Exclude<State, "running">, LucideIcon> = {
  ok: CircleCheck,
  waiting: Hand,
  warn: TriangleAlert,
  error: CircleX,
  idle: CircleDashed,
  skipped: CircleSlash,
  refused: Lock,
  retrying: Clock,
};

const TONES: Partial<Record<State, string>> = { skipped: "idle", refused: "idle", retrying: "warn" };

/** The icon of a state. Screen readers skip it, because the word for the state is always beside it. */
export function StateIcon({ state, className = "" }: { state: State; className?: string }) {
  if (state === "running") return <RunningArc className={className} />;
  const Icon = ICONS[state];
  return <Icon className={`i i-s ${className}`} aria-hidden />;
}

function RunningArc({ className }: { className: string }) {
  return (
    <svg className={`i i-s spin ${className}`} viewBox="0 0 16 16" aria-hidden>
      <path d="M8 1.8A6.2 6.2 0 1 1 1.8 8" />
    </svg>
  );
}

export function toneOf(state: State): string {
  return TONES[state] ?? state;
}

/** Icon and word, because colour alone does not reach everybody. */
export function Status({ state, children }: { state: State; children: React.ReactNode }) {
  return (
    <span className={`st ${toneOf(state)}`}>
      <StateIcon state={state} />
      {children}
    </span>
  );
}

export function Tag({ state, children }: { state: State; children: React.ReactNode }) {
  return (
    <span className={`tag ${toneOf(state)}`}>
      <StateIcon state={state} className="i-xs" />
      {children}
    </span>
  );
}

const RUN_STATES: Record<string, [State, string]> = {
  running: ["running", "Running"],
  waiting: ["waiting", "Waiting for you"],
  paused: ["idle", "Paused"],
  done: ["ok", "Done"],
  partial: ["warn", "Partial"],
  failed: ["error", "Failed"],
  cancelled: ["skipped", "Stopped"],
  clarify: ["waiting", "Needs clarification"],
  refused: ["refused", "Refused"],
};

/**
 * Icon and word for the status of a run. A run that asked back is shown as such, not as done. Older versions stored a
 * refused run as failed, so its kind is looked at too.
 */
export function runState(status: string, kind?: string | null): [State, string] {
  const shown = kind === "refusal" ? "refused" : status === "done" && kind === "clarify" ? "clarify" : status;
  return RUN_STATES[shown] ?? ["idle", status];
}
