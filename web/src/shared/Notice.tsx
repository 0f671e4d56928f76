import { CircleX, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { Problem } from "../api/client";

interface Props {
  tone: "error" | "warn";
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}

/** A box that says what went wrong, why, and what to do. */
export function Notice({ tone, title, children, actions }: Props) {
  const Icon = tone === "error" ? CircleX : TriangleAlert;
  return (
    <div className={`al ${tone}`} role="alert">
      <Icon className="i" aria-hidden />
      <div className="grow">
        <p className="h">{title}</p>
        {children}
        {actions && <div className="row acts">{actions}</div>}
      </div>
    </div>
  );
}

export function ProblemNotice({ problem, onRetry }: { problem: Problem; onRetry?: () => void }) {
  const retry = onRetry && (
    <button type="button" className="btn small" onClick={onRetry}>
      Try again
    </button>
  );
  return (
    <Notice tone="error" title={problem.message} actions={retry}>
      {problem.hint && <p>{problem.hint}</p>}
      <p className="caption mono dim">{problem.code}</p>
    </Notice>
  );
}
