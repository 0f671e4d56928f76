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

/** The shape of a state; its word stands beside it, so the shape itself is not spoken. */
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

/** Shape and word, never colour alone. */
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
  waiting: ["waiting", "Waits for you"],
  done: ["ok", "Done"],
  partial: ["warn", "Done in part"],
  failed: ["error", "Failed"],
  cancelled: ["skipped", "Stopped"],
  clarify: ["waiting", "Asks back"],
  refused: ["refused", "Refused"],
};

/** A run's status as shape and word; a question back and a refusal show as what they are. */
export function runState(status: string, kind?: string | null): [State, string] {
  const shown =
    status === "done" && kind === "clarify" ? "clarify" : status === "done" && kind === "refusal" ? "refused" : status;
  return RUN_STATES[shown] ?? ["idle", status];
}
