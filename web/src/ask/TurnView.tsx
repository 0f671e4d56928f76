import { ChevronDown, ChevronRight, Lock, Table2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Answer } from "../api/types";
import { Link } from "../app/Link";
import { address } from "../app/router";
import { cellText, formatOf } from "../result/cells";
import { PreviewTable } from "../result/PreviewTable";
import { titleOf } from "../result/title";
import { Code } from "../shared/Code";
import { duration, plural } from "../shared/format";
import { Notice } from "../shared/Notice";
import { ChosenLine, ClarifyCard } from "./ClarifyCard";
import type { Turn } from "./conversations";
import { LiveCard } from "./LiveCard";
import { PlanGraph } from "./PlanGraph";
import { Prose } from "./Prose";
import { Question } from "./Question";
import { Receipt } from "./Receipt";
import { isOver, type RunView, type ShownStep, shownSteps } from "./run";
import { StepList } from "./StepList";
import { useStepKinds } from "./stepKinds";

export interface TurnActions {
  stop: (turn: Turn) => void;
  choose: (turn: Turn, choice: number) => void;
  other: () => void;
  again: (turn: Turn) => void;
  editAndAsk: (turn: Turn, text: string) => void;
  fork: (turn: Turn) => void;
  show: (turn: Turn) => void;
  showCell: (turn: Turn, row: number | null, column: number | null) => void;
}

interface Props {
  turn: Turn;
  /** The choice that the next turn made, if this turn asked back. */
  chosen: string | null;
  /** Whether this turn has the question of the turn before, because that one asked back and was answered. */
  repeats: boolean;
  current: boolean;
  actions: TurnActions;
  editing: boolean;
  onEdit: (editing: boolean) => void;
}

export function TurnView({ turn, chosen, repeats, current, actions, editing, onEdit }: Props) {
  return (
    <article className="turn" data-run={turn.run.id ?? undefined}>
      {!repeats && (
        <Question
          text={turn.question}
          editing={editing}
          canFork={turn.messageId !== null && isOver(turn.run)}
          onEdit={onEdit}
          onAskAgain={(text) => actions.editAndAsk(turn, text)}
          onFork={() => actions.fork(turn)}
        />
      )}
      <Outcome turn={turn} chosen={chosen} current={current} actions={actions} onEdit={onEdit} />
    </article>
  );
}

function Outcome({ turn, chosen, current, actions, onEdit }: Omit<Props, "editing" | "repeats">) {
  const { run } = turn;
  const [changing, setChanging] = useState(false);
  if (run.phase === "failed" || run.phase === "cancelled")
    return <Failure turn={turn} onAgain={() => actions.again(turn)} onEdit={() => onEdit(true)} />;
  if (!run.answer) return <LiveCard turn={turn} onStop={() => actions.stop(turn)} />;
  if (run.answer.kind === "clarify") {
    if (chosen && !changing) return <ChosenLine label={chosen} onChange={() => setChanging(true)} />;
    const source = turn.sources.length === 1 ? (turn.sources[0] ?? null) : null;
    return (
      <ClarifyCard
        answer={run.answer}
        source={source}
        onChoose={(choice) => actions.choose(turn, choice)}
        onOther={actions.other}
      />
    );
  }
  if (run.answer.kind === "refusal")
    return <Refusal title={run.answer.text} hint={run.answer.provenance.error?.hint} />;
  return (
    <>
      <StepsSummary run={run} />
      {run.answer.kind === "value" && <BigValue answer={run.answer} />}
      <Prose answer={run.answer} onCell={(row, column) => actions.showCell(turn, row, column)} />
      {run.answer.columns.length > 0 && (
        <ResultLink answer={run.answer} current={current} onShow={() => actions.show(turn)} />
      )}
      <Receipt answer={run.answer} />
    </>
  );
}

function StepsSummary({ run }: { run: RunView }) {
  const steps = shownSteps(run.steps, useStepKinds());
  const [open, setOpen] = useState(true);
  const ms = Math.max(
    run.answer?.usage.duration_ms ?? 0,
    steps.reduce((sum, step) => sum + (step.ms ?? 0), 0),
  );
  const Chevron = open ? ChevronDown : ChevronRight;
  if (!steps.length) return null;
  return (
    <>
      <button type="button" className="steps-sum" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Chevron className="i i-s" aria-hidden />
        <span>
          {plural(steps.length, "step")}, {duration(ms)}
        </span>
      </button>
      {open && (
        <div className="planbox">
          <PlanGraph steps={steps} />
        </div>
      )}
    </>
  );
}

function BigValue({ answer }: { answer: Answer }) {
  const value = answer.rows[0]?.[0];
  const column = answer.columns[0];
  if (value === undefined || !column) return null;
  const format = formatOf(answer, 0);
  return (
    <p className="display num">
      {cellText(value, format)}
      {format.unit && <span className="unit">{format.unit}</span>}
    </p>
  );
}

function ResultLink({ answer, current, onShow }: { answer: Answer; current: boolean; onShow: () => void }) {
  return (
    <>
      <button type="button" className={`result-link ${current ? "cur" : ""}`} aria-pressed={current} onClick={onShow}>
        <Table2 className="i" aria-hidden />
        <span className="grow clip">{titleOf(answer)}</span>
        <span className="dim num">{plural(answer.row_count, "row")}</span>
        <ChevronRight className="i i-s" aria-hidden />
      </button>
      <PreviewTable answer={answer} onShow={onShow} />
    </>
  );
}

/** Errors in the question itself. The same question would fail again, so editing it is offered first. */
const WRONG_QUESTION = ["UserError", "NotFoundError", "SemanticError", "GraphError"];

function Failure({ turn, onAgain, onEdit }: { turn: Turn; onAgain: () => void; onEdit: () => void }) {
  const { error, phase } = turn.run;
  const steps = shownSteps(turn.run.steps, useStepKinds());
  const finished = steps.filter((step) => step.state === "ok");
  if (error?.kind === "RefusedError") return <Refusal title={error.message} hint={error.hint} code={error.code} />;
  const wrong = WRONG_QUESTION.includes(error?.kind ?? "");
  const tone = phase === "cancelled" || error?.kind === "LimitError" ? "warn" : "error";
  const actions = (
    <>
      {wrong && (
        <button type="button" className="btn primary small" onClick={onEdit}>
          Edit the question
        </button>
      )}
      <button type="button" className={wrong ? "btn small" : "btn primary small"} onClick={onAgain}>
        Ask again
      </button>
    </>
  );
  return (
    <>
      <Notice tone={tone} title={error?.message ?? "The run did not end with an answer."} actions={actions}>
        {error?.hint && <p>{error.hint}</p>}
      </Notice>
      <dl className="kv">
        <Fact name="Code">
          <span className="mono">{error?.code}</span>
        </Fact>
        {turn.run.id && (
          <Fact name="Run">
            <Link className="link mono" href={address("runs", turn.run.id)}>
              {turn.run.id}
            </Link>
          </Fact>
        )}
        {finished.length > 0 && (
          <Fact name="Finished">
            {finished
              .map((step) => (step.rows === null ? step.name : `${step.name}, ${plural(step.rows, "row")}`))
              .join("; ")}
          </Fact>
        )}
      </dl>
      {steps.length > 1 && <StepList steps={steps} />}
      {finished
        .filter((step) => step.code)
        .map((step) => (
          <Found key={step.id} step={step} />
        ))}
    </>
  );
}

/** What a step of a failed run produced before the failure: its program and some of its rows. */
function Found({ step }: { step: ShownStep }) {
  const names = Object.keys(step.sample[0] ?? {});
  return (
    <details>
      <summary>
        {step.name}: {plural(step.rows ?? 0, "row")}
      </summary>
      <Code text={step.code ?? ""} language={step.descriptor?.language ?? null} />
      {names.length > 0 && (
        <table className="plain">
          <thead>
            <tr>
              {names.map((name) => (
                <th key={name}>{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {step.sample.map((record, row) => (
              <tr key={row}>
                {names.map((name) => (
                  <td key={name}>{String(record[name] ?? "")}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="grow">{children}</dd>
    </div>
  );
}

/** A refusal with the rule behind it. The text does not reveal whether the data exists. */
function Refusal({ title, hint, code }: { title: string; hint: string | null | undefined; code?: string }) {
  return (
    <div className="refusal card" role="alert">
      <span className="big lk">
        <Lock className="i" aria-hidden />
      </span>
      <div>
        <p className="h">{title}</p>
        {hint && <p className="mid">{hint}</p>}
        <p className="caption dim">
          Refused before any data was read. The refusal is recorded. {code && <span className="mono">{code}</span>}
        </p>
      </div>
    </div>
  );
}
