import { ArrowUpRight, ChevronLeft, RefreshCw, RotateCcw, Square } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { api, Problem, path } from "../api/client";
import type { RunDetail, RunSummary, RunTimeline } from "../api/types";
import { CheckTab } from "../result/CheckTab";
import { RunRows } from "../result/TableTab";
import { recalled } from "../run/run";
import { useStepKinds } from "../run/stepKinds";
import { replay, verdicts } from "../run/verdicts";
import { refresh, useFetched } from "../shared/fetched";
import { count, duration, money, plural } from "../shared/format";
import { Link } from "../shared/Link";
import { Notice, ProblemNotice } from "../shared/Notice";
import { address, navigate } from "../shared/router";
import { SkeletonRows } from "../shared/Skeleton";
import { runState, Status, Tag } from "../shared/Status";
import { useStore } from "../shared/store";
import { panelProps, Tabs } from "../shared/Tabs";
import { toast } from "../shared/toasts";
import { CompareTab } from "./CompareTab";
import { EventsTab } from "./EventsTab";
import { Waterfall } from "./Waterfall";

type Tab = "waterfall" | "events" | "rows" | "check" | "compare";

/** One run. `compared` is the earlier run to compare it with. */
export function RunPane({ run, compared }: { run: string; compared: string | null }) {
  const detail = useFetched<RunDetail>(path`/runs/${run}`);
  const timeline = useFetched<RunTimeline>(path`/runs/${run}/timeline`);
  const [tab, setTab] = useState<Tab>(compared ? "compare" : "waterfall");
  const going = detail.data?.run.status === "running" || detail.data?.run.status === "waiting";
  useEffect(() => {
    if (!going) return undefined;
    const timer = setInterval(() => refresh(path`/runs/${run}`), 1_000);
    return () => {
      clearInterval(timer);
      refresh(path`/runs/${run}`); // the run may have ended after its timeline was loaded
    };
  }, [going, run]);
  const summary = detail.data?.run;
  const answer = detail.data?.answer ?? null;
  const view = useMemo(() => (answer ? recalled(answer, summary?.duration_ms ?? null) : null), [answer, summary]);
  if (detail.problem && !detail.data)
    return <section className="pane">{<ProblemNotice problem={detail.problem} onRetry={detail.reload} />}</section>;
  if (!summary) return <section className="pane">{<SkeletonRows rows={10} columns={3} />}</section>;
  return (
    <section className="pane" aria-label="Run">
      <RunHead
        run={summary}
        retries={timeline.data?.steps.reduce((sum, step) => sum + Math.max(0, step.attempts.length - 1), 0) ?? 0}
      />
      <Tabs
        label="Run"
        current={tab}
        onSelect={setTab}
        tabs={[
          { name: "waterfall", label: "Waterfall" },
          { name: "events", label: "Events" },
          { name: "rows", label: "Rows", extra: <span className="n">{answer ? count(answer.row_count) : ""}</span> },
          { name: "check", label: "Check" },
          { name: "compare", label: "Compare" },
        ]}
      />
      <div className="panel" {...panelProps(tab)}>
        {tab === "waterfall" && (
          <div className="scroll" tabIndex={0}>
            <Facts run={summary} timeline={timeline.data} />
            {answer?.provenance.error && (
              <Notice tone="error" title={answer.provenance.error.message}>
                {answer.provenance.error.hint && <p>{answer.provenance.error.hint}</p>}
                <p className="caption mono dim">{answer.provenance.error.code}</p>
              </Notice>
            )}
            {timeline.data && <Waterfall timeline={timeline.data} />}
            {timeline.problem && !timeline.data && (
              <ProblemNotice problem={timeline.problem} onRetry={timeline.reload} />
            )}
          </div>
        )}
        {tab === "events" && <EventsTab run={run} />}
        {tab === "rows" &&
          (view?.columns.length ? <RunRows run={view} /> : <p className="none dim">This run has no rows.</p>)}
        {tab === "check" &&
          (answer ? (
            <CheckTab answer={answer} question={summary.question ?? ""} />
          ) : (
            <p className="none dim">The run has not ended yet.</p>
          ))}
        {tab === "compare" && <CompareTab run={summary} compared={compared} />}
      </div>
    </section>
  );
}

function RunHead({ run, retries }: { run: RunSummary; retries: number }) {
  const [state, word] = runState(run.status, run.kind);
  const [busy, setBusy] = useState(false);
  const going = run.status === "running" || run.status === "waiting";
  const act = async (action: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await action();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      toast(error.message, { state: "error" });
    } finally {
      setBusy(false);
      refresh("/runs");
    }
  };
  const stop = () => api.post(path`/runs/${run.run_id}/cancel`);
  const again = async () => {
    const { run_id: created } = await api.post<{ run_id: string }>(path`/runs/${run.run_id}/retry`);
    navigate(address("runs", created));
  };
  return (
    <div className="head">
      <Link className="btn ghost icon back" href="/runs" aria-label="Back to the runs">
        <ChevronLeft className="i" aria-hidden />
      </Link>
      <h2 className="clip" dir="auto">
        {run.question ?? "A query"}
      </h2>
      <Tag state={state}>{retries && !going ? `${word}, ${plural(retries, "retry", "retries")}` : word}</Tag>
      <span className="grow" />
      {run.thread_id && (
        <Link className="btn small hide-s" href={address("ask", run.thread_id)}>
          <ArrowUpRight className="i i-s" aria-hidden />
          Open in Ask
        </Link>
      )}
      {going ? (
        <button type="button" className="btn small" disabled={busy} onClick={() => void act(stop)}>
          <Square className="i i-xs" aria-hidden />
          {busy ? "Stopping …" : "Stop"}
        </button>
      ) : (
        <>
          <button type="button" className="btn small hide-s" onClick={() => void replay(run.run_id)}>
            <RotateCcw className="i i-s" aria-hidden />
            Replay
          </button>
          <button type="button" className="btn small" disabled={busy} onClick={() => void act(again)}>
            <RefreshCw className="i i-s" aria-hidden />
            Run again
          </button>
        </>
      )}
    </div>
  );
}

function Facts({ run, timeline }: { run: RunSummary; timeline: RunTimeline | null }) {
  const verdict = useStore(verdicts)[run.run_id];
  const kinds = useStepKinds();
  const steps = timeline?.steps.filter((step) => !kinds.get(step.kind)?.is_wrapper) ?? [];
  const waited = steps.flatMap((step) => step.attempts).reduce((sum, attempt) => sum + (attempt.wait_ms ?? 0), 0);
  const calls = steps.reduce((sum, step) => sum + step.model_calls, 0);
  return (
    <dl className="stats">
      <Fact
        name="Time"
        value={run.duration_ms === null ? "–" : duration(run.duration_ms)}
        note={waited ? `${duration(waited)} of it waiting` : plural(steps.length, "step")}
      />
      <Fact name="Rows" value={run.row_count === null ? "–" : count(run.row_count)} note={run.kind ?? ""} />
      <Fact
        name="Tokens"
        value={count(run.tokens ?? 0)}
        note={calls ? plural(calls, "call") : run.tokens ? "in and out" : "no model"}
      />
      <Fact name="Cost" value={money(run.cost_usd ?? 0)} note={plural(run.sources.length, "source")} />
      <div>
        <dt>Replay</dt>
        <dd>
          <Status
            state={
              verdict?.verdict === "same"
                ? "ok"
                : verdict?.verdict === "differs"
                  ? "warn"
                  : verdict?.verdict === "running"
                    ? "running"
                    : "idle"
            }
          >
            {verdict
              ? { same: "The same", differs: "Rows differ", cannot: "Cannot", running: "Running" }[verdict.verdict]
              : "Not yet"}
          </Status>
        </dd>
        <dd className="s clip">{verdict?.text ?? "runs the steps again"}</dd>
      </div>
    </dl>
  );
}

function Fact({ name, value, note }: { name: string; value: string; note: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="num">{value}</dd>
      <dd className="s">{note}</dd>
    </div>
  );
}
