import { Check, ChevronRight, CircleCheck, Copy, RotateCcw, ShieldCheck, Star, TriangleAlert } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { useJudgement } from "../answer/Judging";
import { path } from "../api/client";
import type { About, Answer, Binding, RunTimeline, SourceList } from "../api/types";
import { PlanGraph } from "../run/PlanGraph";
import { useStepKinds } from "../run/stepKinds";
import { kindLabel } from "../run/stepNames";
import { replay, type Verdict, verdicts } from "../run/verdicts";
import { Code } from "../shared/Code";
import { useFetched } from "../shared/fetched";
import { age, clock, count, duration, fingerprint, moment, plural } from "../shared/format";
import { StateIcon } from "../shared/Status";
import { useStore } from "../shared/store";
import { toast } from "../shared/toasts";
import { branches, type CheckStep, checkSteps } from "./checkSteps";
import { tiedLines } from "./codeTies";
import { RunEditor } from "./RunEditor";
import { Understood } from "./Understood";

/** Evidence for an answer: what was understood, which code ran, its rows, and whether a replay gives the same. */
export function CheckTab({ answer, question }: { answer: Answer; question: string }) {
  const [lit, setLit] = useState<ReadonlySet<number>>(NONE);
  const timeline = useTimeline(answer.run_id);
  const kinds = useStepKinds();
  const steps = useMemo(() => checkSteps(answer, timeline, kinds), [answer, timeline, kinds]);
  const understandingMs = steps.find((step) => step.isPlan)?.ms ?? null;
  return (
    <div className="scroll checktab" tabIndex={0}>
      <VerdictBar answer={answer} />
      <Understood
        answer={answer}
        question={question}
        ms={understandingMs}
        lit={lit}
        onLit={(binding) => setLit(binding === null ? NONE : new Set([binding]))}
      />
      <Steps answer={answer} steps={steps} lit={lit} onLit={setLit} />
      <Findings answer={answer} />
      <ReadFrom answer={answer} />
    </div>
  );
}

const NONE: ReadonlySet<number> = new Set();
const SOON = 500;

/** The answer arrives a moment before its run ends, so the timeline is fetched again until all times are known. */
function useTimeline(run: string): RunTimeline | null {
  const { data, reload } = useFetched<RunTimeline>(path`/runs/${run}/timeline`);
  useEffect(() => {
    if (data?.run.status !== "running") return undefined;
    const timer = setTimeout(reload, SOON);
    return () => clearTimeout(timer);
  }, [data, reload]);
  return data;
}

/** The highlighted bindings, and a setter. */
interface Lighting {
  lit: ReadonlySet<number>;
  onLit: (bindings: ReadonlySet<number>) => void;
}

const VERDICTS: Record<Verdict["verdict"], [tone: string, title: string]> = {
  running: ["idle", "Running the steps again …"],
  same: ["ok", "The same rows"],
  differs: ["warn", "The rows differ"],
  cannot: ["idle", "It cannot be replayed"],
};

function VerdictBar({ answer }: { answer: Answer }) {
  const verdict = useStore(verdicts)[answer.run_id];
  const [tone, word] = verdict ? VERDICTS[verdict.verdict] : ["idle", "Not replayed yet"];
  const title = verdict?.verdict === "same" ? `the same ${plural(answer.row_count, "row")}` : word.toLowerCase();
  const Icon = tone === "ok" ? ShieldCheck : tone === "warn" ? TriangleAlert : ShieldCheck;
  const mark = answer.provenance.fingerprint;
  return (
    <section className={`verdict v-${tone}`} aria-live="polite">
      <div className="vmain">
        <Icon className="i" aria-hidden />
        <div>
          <h3 className="vh2">
            {verdict && verdict.verdict !== "running" ? `Replayed ${moment(verdict.at)}: ${title}` : word}
          </h3>
          <p className="caption">
            {verdict?.text ?? "Runs the recorded steps again and compares the rows."}
            {mark && (
              <>
                {" "}
                Fingerprint <span className="mono">{fingerprint(mark)}</span>
              </>
            )}
          </p>
        </div>
      </div>
      <GoldenButton answer={answer} />
      <button
        type="button"
        className="btn"
        disabled={verdict?.verdict === "running"}
        onClick={() => void replay(answer.run_id)}
      >
        <RotateCcw className="i i-s" aria-hidden />
        Replay
      </button>
    </section>
  );
}

/** Adds the answer to the golden questions. */
function GoldenButton({ answer }: { answer: Answer }) {
  const { judgement, busy, keep } = useJudgement(answer.run_id, true);
  const isGolden = Boolean(judgement?.golden);
  return (
    <button
      type="button"
      className="btn ghost"
      disabled={isGolden || busy}
      title={isGolden ? "Already a golden question" : "Add to the golden questions"}
      onClick={() => void keep()}
    >
      {isGolden ? <Check className="i i-s" aria-hidden /> : <Star className="i i-s" aria-hidden />}
      {isGolden ? "Golden" : "Good answer"}
    </button>
  );
}

function Steps({ answer, steps, ...lighting }: { answer: Answer; steps: CheckStep[] } & Lighting) {
  const first = steps.findIndex((step) => step.code && !step.isPlan);
  return (
    <section>
      <h3>
        Steps
        <span className="hcols">
          <span>rows in</span>
          <span>out</span>
          <span>time</span>
        </span>
      </h3>
      {branches(steps) && (
        <div className="planbox">
          <PlanGraph steps={steps} />
        </div>
      )}
      {steps.length > 0 ? (
        <div className="csteps">
          {steps.map((step, i) => (
            <Step key={step.id} step={step} bindings={answer.provenance.bindings} open={i === first} {...lighting} />
          ))}
        </div>
      ) : (
        <p className="dim">No step read data.</p>
      )}
    </section>
  );
}

interface StepProps extends Lighting {
  step: CheckStep;
  bindings: Binding[];
  open: boolean;
}

function Step({ step, bindings, open, lit, onLit }: StepProps) {
  const [opened, setOpened] = useState(open);
  const summary = (
    <>
      <span className={step.state}>
        <StateIcon state={step.state} />
      </span>
      <b>{step.name}</b>
      <span className="dim clip grow">{[step.label, step.note].filter(Boolean).join(", ")}</span>
      <span className="num dim ri">{step.rowsIn === null ? "–" : count(step.rowsIn)}</span>
      <span className={`num ro ${step.rows === null ? "dim" : ""}`}>{step.rows === null ? "–" : count(step.rows)}</span>
      <span className="num dim ms">{step.ms === null ? "–" : duration(step.ms)}</span>
    </>
  );
  if (!step.code) return <div className="cstep bare">{summary}</div>;
  return (
    <details className="cstep" open={open} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>
        <ChevronRight className="i i-s chev" aria-hidden />
        {summary}
      </summary>
      {opened && <Program step={step} code={step.code} bindings={bindings} lit={lit} onLit={onLit} />}
    </details>
  );
}

/** The code of a step. Pointing at a line highlights the phrases it comes from. A query or program can be edited and run. */
function Program({ step, code, bindings, lit, onLit }: Omit<StepProps, "open"> & { code: string }) {
  const [editing, setEditing] = useState(false);
  const { language, isPlan } = step;
  const runnable = useFetched<About>("/about").data?.runs_as_written.find((name) => name === language && !isPlan);
  const ties = useMemo(
    () => bindings.map((binding) => (isPlan ? [] : tiedLines(binding.meaning, code))),
    [bindings, code, isPlan],
  );
  const lines = new Set([...lit].flatMap((binding) => ties[binding] ?? []));
  const light = (line: number | null) =>
    onLit(new Set(line === null ? [] : ties.flatMap((tied, binding) => (tied.includes(line) ? [binding] : []))));
  return (
    <div className="codebox">
      <div className="row cb">
        <span className="caption dim grow">{step.program}</span>
        {runnable && (
          <button type="button" className="btn ghost small" onClick={() => setEditing(!editing)}>
            {editing ? "As it ran" : "Edit and run"}
          </button>
        )}
        <CopyButton text={code} />
      </div>
      {editing && runnable ? (
        <RunEditor code={code} language={runnable} source={step.source} />
      ) : (
        <Code text={code} language={language} lit={lines} onLine={light} />
      )}
    </div>
  );
}

function CopyButton({ text }: { text: string }) {
  return (
    <button
      type="button"
      className="btn ghost small"
      onClick={() => void navigator.clipboard.writeText(text).then(() => toast("Code copied"))}
    >
      <Copy className="i i-s" aria-hidden />
      Copy
    </button>
  );
}

function Findings({ answer }: { answer: Answer }) {
  const { findings, links } = answer.provenance;
  return (
    <section>
      <h3>Findings</h3>
      <ul className="finds">
        {links.length > 0 && (
          <li>
            <CircleCheck className="i i-s okm" aria-hidden />
            Every number in the text was found in the rows ({links.length}).
          </li>
        )}
        {findings.map((finding) => (
          <li key={finding}>
            <TriangleAlert className="i i-s wam" aria-hidden />
            {finding}
          </li>
        ))}
        {!findings.length && (
          <li>
            <CircleCheck className="i i-s okm" aria-hidden />
            Nothing was left out, corrected or retried.
          </li>
        )}
      </ul>
    </section>
  );
}

const KINDS: Record<string, string> = {
  files: "Files, read only",
  sqlite: "SQLite, read only",
  duckdb: "DuckDB, read only",
  postgres: "PostgreSQL, read only",
};

function ReadFrom({ answer }: { answer: Answer }) {
  const read = answer.steps.filter((step) => step.source);
  const known = useFetched<SourceList>("/sources").data?.sources ?? [];
  const kinds = useStepKinds();
  if (!read.length) return null;
  return (
    <section>
      <h3>Read from</h3>
      <table className="data prov">
        <thead>
          <tr>
            <th>Source</th>
            <th className="hide-s">Kind</th>
            <th className="r">Rows read</th>
            <th>Data last updated</th>
            <th className="hide-s">Fingerprint</th>
          </tr>
        </thead>
        <tbody>
          {read.map((step) => (
            <tr key={step.id}>
              <td>{step.source}</td>
              <td className="hide-s">
                {KINDS[known.find(({ name }) => name === step.source)?.kind ?? ""] ??
                  kindLabel(step.kind, kinds.get(step.kind))}
              </td>
              <td className="r">{step.rows_in === null ? "not known" : count(step.rows_in)}</td>
              <td>{step.last_sync ? `${age(step.last_sync)} ago, ${clock(step.last_sync)}` : "not known"}</td>
              <td className="mono hide-s">{step.fingerprint ? fingerprint(step.fingerprint) : "none"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
