import { count } from "../shared/format";
import { toneOf } from "../shared/Status";
import { layoutPlan } from "./planLayout";
import type { ShownStep } from "./run";

const MARKS: Record<string, string> = {
  ok: "m-3.2 0 2.3 2.4 4.2-4.8",
  running: "M0-4.2A4.2 4.2 0 1 1-4.2 0",
  warn: "M0-4.4a4.4 4.4 0 1 1-.01 0M0-2.2V.2l1.6 1",
  waiting: "M0-4.4a4.4 4.4 0 1 1-.01 0M0-2.2V.2l1.6 1",
  error: "m-3-3 6 6m0-6-6 6",
  idle: "M-3.4 0h.01M0 0h.01M3.4 0h.01",
};

/** The plan as a picture that shows the state of each step. Screen readers get the list of steps instead. */
export function PlanGraph({ steps }: { steps: ShownStep[] }) {
  const { width, height, boxes, edges } = layoutPlan(steps);
  const byId = new Map(steps.map((step) => [step.id, step]));
  const label = `Plan: ${steps.map((step) => `${step.name} ${step.state}`).join(", ")}`;
  return (
    <svg
      className="plan"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={label}
    >
      {edges.map((edge) => (
        <path
          key={`${edge.from} ${edge.to}`}
          className={`edge ${edgeState(byId.get(edge.from), byId.get(edge.to))}`}
          d={edge.path}
        />
      ))}
      {boxes.map((box) => {
        const step = byId.get(box.id);
        return (
          step && (
            <Node
              key={box.id}
              step={step}
              transform={`translate(${box.x} ${box.y})`}
              width={box.width}
              height={box.height}
            />
          )
        );
      })}
    </svg>
  );
}

function Node({
  step,
  transform,
  width,
  height,
}: {
  step: ShownStep;
  transform: string;
  width: number;
  height: number;
}) {
  const tone = toneOf(step.state);
  return (
    <g className={`n-${tone}`} transform={transform}>
      <rect className="box" width={width} height={height} rx={8} />
      <g transform={`translate(16 ${height / 2})`}>
        <path className={`mk ${step.state === "running" ? "spin" : ""}`} d={MARKS[tone] ?? MARKS.idle} />
      </g>
      <text x={30} y={17}>
        {cut(step.name, 17)}
      </text>
      <text className="sub" x={30} y={32}>
        {cut(`${step.label} · ${outcome(step)}`, 22)}
      </text>
    </g>
  );
}

function outcome(step: ShownStep): string {
  if (step.state === "running" && step.total) return `${count(step.done ?? 0)} of ${count(step.total)}`;
  if (step.state === "running") return "running";
  if (step.state === "retrying") return "retrying";
  if (step.state === "waiting") return "waiting for you";
  if (step.state === "idle") return step.note ? "last known" : "not started";
  if (step.state === "error") return "failed";
  if (step.state === "skipped") return "skipped";
  return step.rows === null ? "done" : `${count(step.rows)} ${step.rows === 1 ? "row" : "rows"}`;
}

function edgeState(from?: ShownStep, to?: ShownStep): string {
  if (from?.state !== "ok") return "";
  return to?.state === "running" ? "flow" : to?.state === "idle" ? "" : "done";
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
