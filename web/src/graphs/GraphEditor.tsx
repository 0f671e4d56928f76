import { ChevronLeft, Play, Plus, Save, Square } from "lucide-react";
import { Suspense, useState } from "react";
import { api, Problem, path } from "../api/client";
import type { GraphDocument, GraphRuns, Json } from "../api/types";
import { refresh, useFetched } from "../shared/fetched";
import { duration } from "../shared/format";
import { Link } from "../shared/Link";
import { later } from "../shared/later";
import { Menu } from "../shared/Menu";
import { ProblemNotice } from "../shared/Notice";
import { Popover } from "../shared/Popover";
import { address, navigate } from "../shared/router";
import { SkeletonRows } from "../shared/Skeleton";
import { Status } from "../shared/Status";
import { toast } from "../shared/toasts";
import { ApprovalCard } from "./ApprovalCard";
import { connected, disconnected, nameIn, withNode, withoutNode } from "./graphText";
import { InputForm, inputFields } from "./InputForm";
import { KINDS } from "./kinds";
import type { GraphRunState } from "./nodeStates";
import { SidePane } from "./SidePane";
import { useDraft } from "./useDraft";
import { useGraphRun } from "./useGraphRun";
import { VersionDiff } from "./VersionDiff";

const Canvas = later(() => import("./Canvas"));

interface Props {
  /** Null for a graph that is not stored yet. */
  document: GraphDocument | null;
  begin: string;
  run: string | null;
  compared: number | null;
  onCompare: (version: number | null) => void;
}

export function GraphEditor({ document, begin, run, compared, onCompare }: Props) {
  const draft = useDraft(begin);
  const name = document?.graph.name ?? null;
  const runs = useFetched<GraphRuns>(name ? `${path`/graphs/${name}/runs`}?limit=20` : null);
  const waiting = runs.data?.runs.find(({ status }) => status === "waiting" || status === "running")?.run_id ?? null;
  const shownRun = run ?? waiting;
  const live = useGraphRun(shownRun);
  const [selected, setSelected] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const changed = draft.text !== begin || !document;

  const guarded = async (work: () => Promise<void>) => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      toast([error.message, error.hint].filter(Boolean).join(" "), { state: "error" });
    } finally {
      setBusy(false);
    }
  };
  const save = async (): Promise<string> => {
    const wanted = nameIn(draft.text) ?? "";
    const body = { text: draft.text, expected: wanted === name ? document?.graph.version : null };
    const stored = await api.put<GraphDocument>(path`/graphs/${wanted}`, body);
    refresh("/graphs");
    toast(`Saved as v${stored.graph.version}`);
    return stored.graph.name;
  };
  const begun = (input: Record<string, Json>) =>
    guarded(async () => {
      const stored = changed ? await save() : (name ?? "");
      const { run_id } = await api.post<{ run_id: string }>(path`/graphs/${stored}/runs`, { input });
      refresh("/graphs");
      navigate(address("graphs", stored, run_id));
    });
  const fields = inputFields(draft.report?.input);

  return (
    <>
      <section className="pane gmain" aria-label="Graph">
        <div className="head">
          <Link className="btn ghost icon to-list" href="/graphs" aria-label="Back to the graphs">
            <ChevronLeft className="i" aria-hidden />
          </Link>
          <h2 className="clip">{name ?? nameIn(draft.text) ?? "New graph"}</h2>
          <span className="tag">{changed ? "not saved" : `v${document?.graph.version}`}</span>
          <span className="grow">
            {draft.problem ? (
              <Status state="error">Mistake{draft.problem.line ? ` in line ${draft.problem.line}` : ""}</Status>
            ) : (
              draft.report && <Status state="ok">Valid</Status>
            )}
          </span>
          {changed && (
            <button
              type="button"
              className="btn small"
              disabled={busy || Boolean(draft.problem)}
              title={draft.problem ? "Mend the mistake first" : undefined}
              onClick={() =>
                void guarded(async () => {
                  const stored = await save();
                  if (stored !== name) navigate(address("graphs", stored));
                })
              }
            >
              <Save className="i i-s" aria-hidden />
              Save
            </button>
          )}
          {fields.length ? (
            <Popover
              label="Input of the run"
              className="btn primary small"
              disabled={busy || Boolean(draft.problem)}
              button={<RunWord />}
            >
              {(close) => (
                <InputForm
                  fields={fields}
                  onRun={(input) => {
                    close();
                    void begun(input);
                  }}
                />
              )}
            </Popover>
          ) : (
            <button
              type="button"
              className="btn primary small"
              disabled={busy || Boolean(draft.problem)}
              onClick={() => void begun({})}
            >
              <RunWord />
            </button>
          )}
        </div>
        <div className="tool">
          <Menu
            label="Add a node"
            className="btn small"
            items={KINDS.map(({ kind, label, begin: fieldsOfKind }) => ({
              label,
              note: kind,
              onSelect: () => {
                const [text, id] = withNode(draft.text, kind, fieldsOfKind);
                draft.replace(text);
                setSelected(id);
              },
            }))}
          >
            <Plus className="i i-s" aria-hidden />
            Node
          </Menu>
          <span className="grow" />
          {live.state && shownRun && (
            <RunLine
              state={live.state}
              nodes={draft.report?.nodes.map(({ id }) => id) ?? []}
              run={shownRun}
              onCancel={() => void api.post(path`/runs/${shownRun}/cancel`)}
            />
          )}
        </div>
        {draft.problem && (
          <p className="gproblem" role="alert">
            {draft.problem.message} {draft.problem.hint}
          </p>
        )}
        {live.problem && <ProblemNotice problem={live.problem} />}
        {live.state &&
          shownRun &&
          Object.entries(live.state.nodes).map(
            ([node, state]) => state.asks && <ApprovalCard key={node} run={shownRun} node={node} asks={state.asks} />,
          )}
        {compared !== null && name ? (
          <VersionDiff
            name={name}
            version={compared}
            nodes={draft.report?.nodes ?? []}
            onClose={() => onCompare(null)}
          />
        ) : (
          <Suspense fallback={<SkeletonRows rows={6} columns={3} />}>
            <Canvas
              nodes={draft.report?.nodes ?? []}
              states={live.state?.nodes ?? {}}
              selected={selected}
              onSelect={setSelected}
              edit={{
                connect: (from, to) => draft.replace(connected(draft.text, from, to)),
                disconnect: (from, to) => draft.replace(disconnected(draft.text, from, to)),
                remove: (id) => draft.replace(withoutNode(draft.text, id)),
              }}
            />
          </Suspense>
        )}
      </section>
      <SidePane
        draft={draft}
        name={name}
        run={shownRun}
        state={live.state}
        runs={runs.data?.runs ?? []}
        selected={selected}
        onSelect={setSelected}
      />
    </>
  );
}

function RunWord() {
  return (
    <>
      <Play className="i i-s" aria-hidden />
      Run
    </>
  );
}

const WORDS = { running: "Running", waiting: "Waits for you", done: "Done", failed: "Failed", cancelled: "Stopped" };
const STATES = { running: "running", waiting: "waiting", done: "ok", failed: "error", cancelled: "skipped" } as const;

interface RunLineProps {
  state: GraphRunState;
  /** The nodes that are drawn. A run has some of its own, for its input and its answer. */
  nodes: string[];
  run: string;
  onCancel: () => void;
}

function RunLine({ state, nodes, run, onCancel }: RunLineProps) {
  const done = nodes.filter((id) => state.nodes[id]?.state === "ok").length;
  const ms = state.began !== null && state.ended !== null ? (state.ended - state.began) * 1_000 : null;
  const over = state.phase !== "running" && state.phase !== "waiting";
  return (
    <span className="row runline">
      <Status state={STATES[state.phase]}>{WORDS[state.phase]}</Status>
      <span className="dim caption num">
        {done} of {nodes.length} done{ms !== null && `, ${duration(ms)}`}
      </span>
      {over ? (
        <Link className="btn ghost small" href={address("runs", run)}>
          Its run
        </Link>
      ) : (
        <button type="button" className="btn small" onClick={onCancel}>
          <Square className="i i-s" aria-hidden />
          Stop
        </button>
      )}
    </span>
  );
}
