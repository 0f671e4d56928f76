import type { TimelineStep } from "../api/types";

export interface TimeBar {
  kind: "critical" | "beside" | "failed" | "wait" | "running";
  x: number;
  width: number;
}

/** The narrowest bar, as a share of the width, so that very short steps stay visible. */
const THINNEST = 0.005;

/** The attempts of a step and the waits between them, as bars on a scale of `width`. */
export function barsOf(step: TimelineStep, total: number, width: number): TimeBar[] {
  const bar = (kind: TimeBar["kind"], from: number, to: number): TimeBar => {
    const wide = Math.max(THINNEST * width, ((to - from) / total) * width);
    return { kind, x: Math.max(0, Math.min(width - wide, (from / total) * width)), width: wide };
  };
  return step.attempts.flatMap((attempt) => {
    const end = attempt.end_ms ?? total;
    const kind =
      attempt.outcome === "failed"
        ? "failed"
        : attempt.outcome === "running"
          ? "running"
          : step.critical
            ? "critical"
            : "beside";
    const drawn = [bar(kind, attempt.start_ms, end)];
    return attempt.wait_ms ? [...drawn, bar("wait", end, end + attempt.wait_ms)] : drawn;
  });
}

/** Four to eight round times along the scale. */
export function ticks(total: number): number[] {
  const raw = total / 6;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * size).find((n) => n >= raw) ?? raw;
  return Array.from({ length: Math.floor(total / step - 0.25) + 1 }, (_, i) => i * step);
}
