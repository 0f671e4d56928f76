import type { ReactNode } from "react";

/** A table that may be wider than its place: it scrolls sideways, by keys too. */
export function WideTable({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="wide" tabIndex={0} role="group" aria-label={label}>
      {children}
    </div>
  );
}
