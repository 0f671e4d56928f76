import { Trash2 } from "lucide-react";
import { Suspense, useId, useMemo, useState } from "react";
import type { Json, RunSummary } from "../api/types";
import { duration, moment } from "../shared/format";
import { Link } from "../shared/Link";
import { later } from "../shared/later";
import { address } from "../shared/router";
import { SkeletonRows } from "../shared/Skeleton";
import { Status } from "../shared/Status";
import { panelProps, Tabs } from "../shared/Tabs";
import { ForkForm } from "./ForkForm";
import { nodesIn, type TextNode, withField, withoutNode } from "./graphText";
import { type FormField, formOf, textOf, valueIn } from "./kinds";
import type { GraphRunState, NodeState } from "./nodeStates";
import { Schedules } from "./Schedules";
import type { Draft } from "./useDraft";

const Editor = later(() => import("../shared/Editor"));

type Name = "yaml" | "form" | "node" | "runs" | "schedule";

interface Props {
  draft: Draft;
  name: string | null;
  run: string | null;
  state: GraphRunState | null;
  runs: RunSummary[];
  selected: string | null;
  onSelect: (id: string | null) => void;
}

/** The same graph as text, as a form for each node, and what its runs did. */
export function SidePane({ draft, name, run, state, runs, selected, onSelect }: Props) {
  const [tab, setTab] = useState<Name>("yaml");
  const nodes = useMemo(() => nodesIn(draft.text), [draft.text]);
  const node = nodes.find(({ id }) => id === selected) ?? null;
  return (
    <aside className="pane gside" aria-label="Text and nodes">
      <Tabs
        label="Graph"
        current={tab}
        onSelect={setTab}
        tabs={[
          { name: "yaml", label: "YAML" },
          { name: "form", label: "Form" },
          { name: "node", label: "Output" },
          { name: "runs", label: "Runs" },
          { name: "schedule", label: "Schedule" },
        ]}
      />
      <div className="scroll" {...panelProps(tab)}>
        {tab !== "runs" && tab !== "schedule" && (
          <label className="gpick">
            <span className="label">Node</span>
            <select className="input" value={selected ?? ""} onChange={(event) => onSelect(event.target.value || null)}>
              <option value="">None chosen</option>
              {nodes.map(({ id, kind }) => (
                <option key={id} value={id}>
                  {id} ({kind})
                </option>
              ))}
            </select>
            {node && tab === "yaml" && (
              <span className="caption dim">
                Lines {node.lines[0]} to {node.lines[1]}
              </span>
            )}
          </label>
        )}
        {tab === "yaml" && (
          <Suspense fallback={<SkeletonRows rows={10} columns={1} />}>
            <Editor text={draft.shown} language="yaml" label="Graph as YAML" onChange={draft.type} />
          </Suspense>
        )}
        {tab === "form" && <NodeForm key={node?.id} draft={draft} node={node} />}
        {tab === "node" && (
          <NodeOutput node={node} nodes={draft.report?.nodes ?? []} run={run} state={state} name={name} />
        )}
        {tab === "runs" && <RunList name={name} runs={runs} current={run} />}
        {tab === "schedule" && (name ? <Schedules graph={name} /> : <p className="none dim">Save the graph first.</p>)}
      </div>
    </aside>
  );
}

function NodeForm({ draft, node }: { draft: Draft; node: TextNode | null }) {
  if (!node) return <p className="none dim">Choose a node, here or in the picture.</p>;
  const { label, fields } = formOf(node.kind);
  const rest = Object.keys(node.fields).filter(
    (name) => name !== "kind" && !fields.some((known) => known.name === name),
  );
  return (
    <div className="gform">
      <p className="mid">{label}</p>
      {fields.map((field) => {
        const text = textOf(field, node.fields[field.name]);
        return (
          <FormLine
            key={`${field.name} ${text}`}
            field={field}
            text={text}
            onText={(next) => draft.replace(withField(draft.text, node.id, field.name, valueIn(field, next)))}
          />
        );
      })}
      {rest.length > 0 && <p className="caption dim">Also said in the text: {rest.join(", ")}.</p>}
      <div>
        <button
          type="button"
          className="btn ghost small danger"
          onClick={() => draft.replace(withoutNode(draft.text, node.id))}
        >
          <Trash2 className="i i-s" aria-hidden />
          Remove {node.id}
        </button>
      </div>
    </div>
  );
}

interface FieldProps {
  field: FormField;
  text: string;
  onText: (text: string) => void;
}

/** A field whose text counts when it is left. */
function FormLine({ field, text, onText }: FieldProps) {
  const id = useId();
  const onBlur = (event: { target: { value: string } }) => event.target.value !== text && onText(event.target.value);
  return (
    <div>
      <label className="label" htmlFor={id}>
        {field.label}
      </label>
      {field.choices ? (
        <select id={id} className="input" value={text} onChange={(event) => onText(event.target.value)}>
          <option value="">Not said</option>
          {field.choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : field.long ? (
        <textarea id={id} className="input area mono" rows={4} defaultValue={text} onBlur={onBlur} />
      ) : (
        <input id={id} className="input" defaultValue={text} onBlur={onBlur} />
      )}
    </div>
  );
}

interface OutputProps {
  node: TextNode | null;
  nodes: readonly { id: string; after: readonly string[] }[];
  run: string | null;
  state: GraphRunState | null;
  name: string | null;
}

function NodeOutput({ node, nodes, run, state, name }: OutputProps) {
  if (!state || !run) return <p className="none dim">No run is shown. Press Run, or choose one under Runs.</p>;
  if (!node) return <p className="none dim">Choose a node, here or in the picture.</p>;
  const found = state.nodes[node.id];
  if (!found) return <p className="none dim">This run has no node {node.id}.</p>;
  const inputs = nodes.find(({ id }) => id === node.id)?.after ?? [];
  return (
    <div className="gform">
      <p className="row">
        <Status state={found.state}>{WORDS[found.state] ?? found.state}</Status>
        <span className="dim caption num grow">
          {found.attempts > 1 && `${found.attempts} tries, `}
          {found.ms !== null && duration(found.ms)}
        </span>
      </p>
      {found.message && <p>{found.message}</p>}
      <h3 className="label">Output</h3>
      <pre className="code">{jsonText(found.output)}</pre>
      {state.phase !== "running" && state.phase !== "waiting" && (
        <ForkForm key={`${run} ${node.id}`} run={run} node={node.id} graph={name} output={found.output} />
      )}
      {inputs.length > 0 && <h3 className="label">Input</h3>}
      {inputs.map((id) => (
        <div key={id}>
          <p className="caption mono">{id}</p>
          <pre className="code">{jsonText(state.nodes[id]?.output ?? null)}</pre>
        </div>
      ))}
      <h3 className="label">Log</h3>
      <ol className="glog">
        {found.log.map(({ at, text }, i) => (
          <li key={i}>
            <span className="dim num">{new Date(at * 1_000).toLocaleTimeString("en-GB")}</span> {text}
          </li>
        ))}
      </ol>
    </div>
  );
}

const WORDS: Partial<Record<NodeState["state"], string>> = {
  ok: "Done",
  running: "Running",
  waiting: "Waits for you",
  error: "Failed",
  idle: "Not started",
  skipped: "Skipped",
  retrying: "Tries again",
};

const LONGEST = 4_000;

function jsonText(value: Json): string {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}\n… ${text.length - LONGEST} more characters` : text;
}

function RunList({ name, runs, current }: { name: string | null; runs: RunSummary[]; current: string | null }) {
  if (!runs.length) return <p className="none dim">It has not run yet.</p>;
  return (
    <ul className="gruns">
      {runs.map((run) => (
        <li key={run.run_id}>
          <Link
            href={address("graphs", name ?? "", run.run_id)}
            aria-current={run.run_id === current ? "true" : undefined}
          >
            <Status state={RUN_STATES[run.status] ?? "idle"}>{run.status}</Status>
            <span className="dim caption">
              {moment(run.created_at)}
              {run.duration_ms !== null && `, ${duration(run.duration_ms)}`}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

const RUN_STATES: Record<string, "ok" | "running" | "waiting" | "error" | "warn" | "skipped"> = {
  done: "ok",
  running: "running",
  waiting: "waiting",
  failed: "error",
  partial: "warn",
  cancelled: "skipped",
};
