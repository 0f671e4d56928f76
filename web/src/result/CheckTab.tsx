import { Check, ChevronRight, CircleCheck, Copy, RotateCcw, ShieldCheck, Star, TriangleAlert } from "lucide-react";
import { useMemo, useState } from "react";
import { api, path } from "../api/client";
import type { Answer, Binding, StepRecord } from "../api/types";
import { toast } from "../app/toasts";
import { kindName } from "../ask/stepNames";
import { Code } from "../shared/Code";
import { age, clock, count, duration, fingerprint, moment } from "../shared/format";
import { StateIcon } from "../shared/Status";
import { useStore } from "../shared/store";
import { tiedLines } from "./codeTies";
import { RunEditor } from "./RunEditor";
import { Understood } from "./Understood";
import { replay, type Verdict, verdicts } from "./verdicts";

/** The proof: what was understood, what ran, what came of it, and whether it does again. */
export function CheckTab({ answer, question }: { answer: Answer; question: string }) {
  const [lit, setLit] = useState<ReadonlySet<number>>(NONE);
  return (
    <div className="scroll checktab" tabIndex={0}>
      <VerdictBar answer={answer} />
      <Understood answer={answer} question={question} lit={lit} onLit={(binding) => setLit(binding === null ? NONE : new Set([binding]))} />
      <Steps answer={answer} lit={lit} onLit={setLit} />
      <Findings answer={answer} />
      <ReadFrom answer={answer} />
    </div>
  );
}

const NONE: ReadonlySet<number> = new Set();

/** Bindings that are lit, and a way to light others. */
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
  const [tone, title] = verdict ? VERDICTS[verdict.verdict] : ["idle", "Not replayed yet"];
  const Icon = tone === "ok" ? ShieldCheck : tone === "warn" ? TriangleAlert : ShieldCheck;
  const mark = answer.provenance.fingerprint;
  return (
    <section className={`verdict v-${tone}`} aria-live="polite">
      <div className="vmain">
        <Icon className="i" aria-hidden />
        <div>
          <h3 className="vh2">{verdict && verdict.verdict !== "running" ? `Replayed ${moment(verdict.at)}: ${title.toLowerCase()}` : title}</h3>
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
      <button type="button" className="btn" disabled={verdict?.verdict === "running"} onClick={() => void replay(answer.run_id)}>
        <RotateCcw className="i i-s" aria-hidden />
        Replay
      </button>
    </section>
  );
}

/** One click from a good answer to a golden case. */
function GoldenButton({ answer }: { answer: Answer }) {
  const [kept, setKept] = useState(false);
  const keep = async () => {
    await api.post(path`/evals/${"golden"}/cases`, { run_id: answer.run_id });
    setKept(true);
    toast("Kept as a golden question. Evals runs it again from now on.");
  };
  return (
    <button type="button" className="btn ghost" disabled={kept} title={kept ? "Kept already" : "Keep as a golden question"} onClick={() => void keep()}>
      {kept ? <Check className="i i-s" aria-hidden /> : <Star className="i i-s" aria-hidden />}
      {kept ? "Kept" : "Good answer"}
    </button>
  );
}

function Steps({ answer, ...lighting }: { answer: Answer } & Lighting) {
  const { steps } = answer;
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
      {steps.map((step, i) => (
        <Step key={step.id} step={step} bindings={answer.provenance.bindings} rowsIn={i ? (steps[i - 1]?.row_count ?? null) : null} open={i === 0} {...lighting} />
      ))}
      {!steps.length && <p className="dim">No step read data.</p>}
    </section>
  );
}

interface StepProps extends Lighting {
  step: StepRecord;
  bindings: Binding[];
  rowsIn: number | null;
  open: boolean;
}

function Step({ step, bindings, rowsIn, open, lit, onLit }: StepProps) {
  const [editing, setEditing] = useState(false);
  const ties = useMemo(() => bindings.map((binding) => tiedLines(binding.meaning, step.code ?? "")), [bindings, step.code]);
  const lines = new Set([...lit].flatMap((binding) => ties[binding] ?? []));
  const light = (line: number | null) => onLit(new Set(line === null ? [] : ties.flatMap((tied, binding) => (tied.includes(line) ? [binding] : []))));
  const state = step.status === "done" ? "ok" : step.status === "failed" ? "error" : "skipped";
  const language = step.kind === "python" ? "python" : "sql";
  return (
    <details className="cstep" open={open}>
      <summary>
        <ChevronRight className="i i-s chev" aria-hidden />
        <span className={state}>
          <StateIcon state={state} />
        </span>
        <b>{kindName(step.kind)}</b>
        <span className="dim clip grow">{[step.source, step.sandbox && `in ${step.sandbox}`].filter(Boolean).join(", ")}</span>
        <span className="num dim ri">{rowsIn === null ? "–" : count(rowsIn)}</span>
        <span className="num ro">{step.row_count === null ? "–" : count(step.row_count)}</span>
        <span className="num dim ms">{duration(step.duration_ms)}</span>
      </summary>
      {step.code && (
        <div className="codebox">
          <div className="row cb">
            <span className="caption dim grow">{kindName(step.kind)}, as it ran</span>
            <button type="button" className="btn ghost small" onClick={() => setEditing(!editing)}>
              {editing ? "As it ran" : "Edit and run"}
            </button>
            <CopyButton text={step.code} />
          </div>
          {editing ? <RunEditor code={step.code} language={language} source={step.source} /> : <Code text={step.code} language={language} lit={lines} onLine={light} />}
        </div>
      )}
    </details>
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

function ReadFrom({ answer }: { answer: Answer }) {
  const read = answer.steps.filter((step) => step.source);
  return (
    <section>
      <h3>Read from</h3>
      <table className="data prov">
        <thead>
          <tr>
            <th>Source</th>
            <th>Kind</th>
            <th>Data last updated</th>
            <th>Fingerprint</th>
          </tr>
        </thead>
        <tbody>
          {read.map((step) => (
            <tr key={step.id}>
              <td>{step.source}</td>
              <td>{step.data_source_type ?? kindName(step.kind)}</td>
              <td>{step.last_sync ? `${age(step.last_sync)} ago, ${clock(step.last_sync)}` : "not known"}</td>
              <td className="mono">{step.fingerprint ? fingerprint(step.fingerprint) : "none"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
