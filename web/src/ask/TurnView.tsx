import { Lock } from "lucide-react";
import { type ReactNode, useState } from "react";
import { AnswerBody } from "../answer/AnswerBody";
import { StaleLine } from "../answer/StaleLine";
import type { PlanChange } from "../api/types";
import type { ResultTab } from "../result/ResultPane";
import type { Turn } from "../run/conversations";
import { isOver, type ShownStep, shownSteps } from "../run/run";
import { StepList } from "../run/StepList";
import { useStepKinds } from "../run/stepKinds";
import { Code } from "../shared/Code";
import { plural } from "../shared/format";
import { Link } from "../shared/Link";
import { Notice } from "../shared/Notice";
import { address } from "../shared/router";
import { AnswerFoot } from "./AnswerFoot";
import { AnswerPlan } from "./AnswerPlan";
import { ChosenLine, ClarifyCard } from "./ClarifyCard";
import { LiveCard } from "./LiveCard";
import { Question } from "./Question";

export interface TurnActions {
  stop: (turn: Turn) => void;
  choose: (turn: Turn, choice: number) => void;
  ask: (question: string) => void;
  again: (turn: Turn) => void;
  change: (turn: Turn, changes: PlanChange[]) => void;
  undo: (turn: Turn) => void;
  editAndAsk: (turn: Turn, text: string) => void;
  fork: (turn: Turn) => void;
  show: (turn: Turn, tab: ResultTab) => void;
  showCell: (turn: Turn, row: number | null, column: number | null) => void;
}

interface Props {
  turn: Turn;
  /** The choice that the next turn made, if this turn asked back. */
  chosen: string | null;
  /** Whether this turn has the question of the turn before, because that one asked back and was answered. */
  repeats: boolean;
  /** Whether no question was asked after this one. */
  newest: boolean;
  actions: TurnActions;
  editing: boolean;
  onEdit: (editing: boolean) => void;
}

export function TurnView({ turn, chosen, repeats, newest, actions, editing, onEdit }: Props) {
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
      <Outcome turn={turn} chosen={chosen} newest={newest} actions={actions} onEdit={onEdit} />
    </article>
  );
}

function Outcome({ turn, chosen, newest, actions, onEdit }: Omit<Props, "editing" | "repeats">) {
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
        onAsk={actions.ask}
      />
    );
  }
  if (run.answer.kind === "refusal")
    return <Refusal title={run.answer.text} hint={run.answer.provenance.error?.hint} />;
  const { answer } = run;
  return (
    <>
      <AnswerBody
        answer={answer}
        rows={run.rows}
        onCell={(row, column) => actions.showCell(turn, row, column)}
        onOpen={() => actions.show(turn, answer.kind === "chart" ? "chart" : "table")}
      />
      {answer.choices.length > 0 && (
        <div className="sug">
          {answer.choices.map(({ id, label }) => (
            <button key={id} type="button" className="chip" onClick={() => actions.ask(label)}>
              {label}
            </button>
          ))}
        </div>
      )}
      {newest && <StaleLine answer={answer} onAgain={() => actions.again(turn)} />}
      <AnswerPlan turn={turn} answer={answer} newest={newest} actions={actions} />
      <AnswerFoot run={run} answer={answer} onCheck={() => actions.show(turn, "check")} />
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
