import { ChevronLeft, ListChecks, Play } from "lucide-react";
import { useEffect, useState } from "react";
import { api, path } from "../api/client";
import type {
  EvalCaseSummary,
  EvalRun,
  EvalSuite,
  EvalSuiteDetail,
  EvalSuiteList,
  WrongAnswerList,
} from "../api/types";
import { Bar } from "../run/StepList";
import { refresh, useFetched } from "../shared/fetched";
import { moment, percent, plural } from "../shared/format";
import { Link } from "../shared/Link";
import { ProblemNotice } from "../shared/Notice";
import { address } from "../shared/router";
import { SkeletonRows } from "../shared/Skeleton";
import { type State, Status } from "../shared/Status";
import { CaseDetail } from "./CaseDetail";
import { TO_MEND, ToMend } from "./ToMend";
import { Trend } from "./Trend";

export default function EvalsView({ suite, caseId }: { suite: string | null; caseId: string | null }) {
  const list = useFetched<EvalSuiteList>("/evals");
  const suites = list.data?.suites ?? [];
  const wrong = useFetched<WrongAnswerList>("/wrong-answers");
  const mending = suite === TO_MEND;
  const current = mending ? null : (suites.find((known) => known.name === suite) ?? suites[0] ?? null);
  const running = suites.some((known) => known.last?.status === "running");
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => refresh("/evals"), 1_000);
    return () => {
      clearInterval(timer);
      refresh("/evals"); // the suite may have ended after its cases were loaded
    };
  }, [running]);
  return (
    <main className={`ev ${suite ? "one" : ""}`}>
      <aside className="pane side" aria-label="Sets of questions">
        <div className="head">
          <h2>Evals</h2>
        </div>
        <div className="scroll">
          {list.problem && !list.data && <ProblemNotice problem={list.problem} onRetry={list.reload} />}
          <ul className="srcs">
            {suites.map((known) => (
              <li key={known.name}>
                <Link
                  className={`suite ${known === current ? "cur" : ""}`}
                  href={address("evals", known.name)}
                  aria-current={known === current ? "true" : undefined}
                >
                  <b className="clip">{known.name}</b>
                  <span className="m">
                    {plural(known.cases, "question")}
                    {known.last?.accuracy != null && ` · ${percent(known.last.accuracy, 0)} right`}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
          <ul className="srcs">
            <li>
              <Link
                className={`suite ${mending ? "cur" : ""}`}
                href={address("evals", TO_MEND)}
                aria-current={mending ? "true" : undefined}
              >
                <b className="clip">To mend</b>
                <span className="m">{plural(wrong.data?.answers.length ?? 0, "wrong answer")}</span>
              </Link>
            </li>
          </ul>
          <p className="none dim caption">
            “Good” below an answer adds its question to the golden ones, “Wrong” to those to mend.
          </p>
        </div>
      </aside>
      {mending ? (
        <ToMend list={wrong} />
      ) : current ? (
        <SuitePane key={current.name} suite={current} caseId={caseId} />
      ) : (
        <section className="pane">{list.loading && <SkeletonRows rows={8} columns={3} />}</section>
      )}
    </main>
  );
}

function SuitePane({ suite, caseId }: { suite: EvalSuite; caseId: string | null }) {
  const detail = useFetched<EvalSuiteDetail>(path`/evals/${suite.name}`);
  const [busy, setBusy] = useState(false);
  const running = suite.last?.status === "running";
  const run = async () => {
    setBusy(true);
    try {
      await api.post<EvalRun>(path`/evals/${suite.name}/runs`);
    } finally {
      setBusy(false);
      refresh("/evals");
    }
  };
  return (
    <>
      <section className="pane" aria-label={`Questions of ${suite.name}`}>
        <div className="head">
          <Link className="btn ghost icon to-list" href="/evals" aria-label="Back to the sets of questions">
            <ChevronLeft className="i" aria-hidden />
          </Link>
          <h2 className="clip">{suite.name}</h2>
          <span className="dim clip grow">{suite.bundled ? "bundled, read only" : "your golden questions"}</span>
          <button type="button" className="btn primary small" disabled={busy || running} onClick={() => void run()}>
            <Play className="i i-s" aria-hidden />
            {running ? "Running …" : `Run ${suite.cases}`}
          </button>
        </div>
        <div className="scroll" tabIndex={0}>
          {running && suite.last && (
            <div className="eval-progress">
              <Status state="running">
                {suite.last.done} of {suite.last.cases}
              </Status>
              <Bar done={suite.last.done} total={suite.last.cases} />
            </div>
          )}
          {suite.last && !running && <Scores run={suite.last} />}
          {suite.trend.length > 1 && <Trend runs={suite.trend} />}
          {detail.problem && !detail.data && <ProblemNotice problem={detail.problem} onRetry={detail.reload} />}
          {detail.data && <Cases suite={suite.name} cases={detail.data.cases} current={caseId} />}
        </div>
      </section>
      {caseId ? <CaseDetail key={caseId} suite={suite} caseId={caseId} /> : <NoCase />}
    </>
  );
}

function NoCase() {
  return (
    <section className="pane hide-s nothing">
      <ListChecks className="i" aria-hidden />
      <p className="dim">Choose a question to compare the expected rows with the actual rows.</p>
    </section>
  );
}

function Scores({ run }: { run: EvalRun }) {
  const scores: [string, string, string][] = [
    ["Correct", share(run.accuracy), `${run.correct ?? 0} of ${run.cases}`],
    ["Answered", share(run.coverage), `${run.asked ?? 0} asked back`],
    ["Correct of those", share(run.precision), `${run.failed ?? 0} failed`],
    ["Last run", moment(run.started_at), run.seconds === null ? "running" : `${run.seconds.toFixed(1)} s`],
  ];
  return (
    <dl className="stats four">
      {scores.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="num">{value}</dd>
          <dd className="s">{note}</dd>
        </div>
      ))}
    </dl>
  );
}

function share(fraction: number | null): string {
  return fraction === null ? "–" : percent(fraction);
}

export const OUTCOMES: Record<NonNullable<EvalCaseSummary["outcome"]>, [State, string]> = {
  correct: ["ok", "Correct"],
  wrong: ["error", "Wrong"],
  asked: ["waiting", "Asked back"],
  declined: ["ok", "Declined, rightly"],
  failed: ["error", "Failed"],
};

type Outcome = keyof typeof OUTCOMES;

function Cases({ suite, cases, current }: { suite: string; cases: EvalCaseSummary[]; current: string | null }) {
  const [only, setOnly] = useState<Outcome | null>(null);
  const found = (Object.keys(OUTCOMES) as Outcome[]).filter((outcome) =>
    cases.some((known) => known.outcome === outcome),
  );
  const shown = only ? cases.filter((known) => known.outcome === only) : cases;
  return (
    <>
      {found.length > 1 && (
        <div className="seg outcomes" role="group" aria-label="Questions to show">
          <button type="button" aria-pressed={only === null} onClick={() => setOnly(null)}>
            All {cases.length}
          </button>
          {found.map((outcome) => (
            <button key={outcome} type="button" aria-pressed={only === outcome} onClick={() => setOnly(outcome)}>
              {OUTCOMES[outcome][1]} {cases.filter((known) => known.outcome === outcome).length}
            </button>
          ))}
        </div>
      )}
      <CaseTable suite={suite} cases={shown} current={current} />
    </>
  );
}

function CaseTable({ suite, cases, current }: { suite: string; cases: EvalCaseSummary[]; current: string | null }) {
  return (
    <table className="data cases">
      <thead>
        <tr>
          <th>Question</th>
          <th>Source</th>
          <th>Outcome</th>
        </tr>
      </thead>
      <tbody>
        {cases.map((known) => {
          const [state, word] = known.outcome ? OUTCOMES[known.outcome] : (["idle", "Not run"] as const);
          return (
            <tr key={known.id} aria-selected={known.id === current}>
              <td>
                <Link href={address("evals", suite, known.id)} title={known.question}>
                  {known.question}
                </Link>
              </td>
              <td className="dim">{known.source}</td>
              <td>
                <Status state={state}>
                  {word}
                  {known.changed && <span className="dim"> changed</span>}
                </Status>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
