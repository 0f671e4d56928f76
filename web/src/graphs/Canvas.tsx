import "@xyflow/react/dist/base.css";
import {
  Background,
  Controls,
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  useNodesState,
} from "@xyflow/react";
import { useEffect, useMemo } from "react";
import type { GraphReport } from "../api/types";
import { duration } from "../shared/format";
import { layoutGraph, NODE } from "../shared/layoutGraph";
import { StateIcon, toneOf } from "../shared/Status";
import type { NodeState } from "./nodeStates";

/** What became of a node between two versions. */
export type Mark = "added" | "removed" | "changed";

type Box = Node<{ kind: string; state: NodeState | null; selected: boolean; mark: Mark | null }, "step">;

interface Props {
  nodes: GraphReport["nodes"];
  states: Record<string, NodeState>;
  selected: string | null;
  marks?: Record<string, Mark>;
  onSelect: (id: string) => void;
  /** Without this the picture cannot be edited. */
  edit?: Edits;
}

interface Edits {
  connect: (from: string, to: string) => void;
  disconnect: (from: string, to: string) => void;
  remove: (id: string) => void;
}

const NO_MARKS: Record<string, Mark> = {};

const TYPES = { step: StepBox };

/** The graph as a picture that can be edited: nodes are dragged, and lines between them are drawn and removed. */
export default function Canvas({ nodes, states, selected, marks = NO_MARKS, onSelect, edit }: Props) {
  const shape = nodes.map((node) => `${node.id}<${node.after.join()}`).join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: positions only depend on the shape of the graph.
  const places = useMemo(() => layoutGraph(nodes), [shape]);
  const [boxes, setBoxes, onNodesChange] = useNodesState<Box>([]);
  useEffect(() => {
    setBoxes((before) =>
      nodes.map(({ id, kind }) => ({
        id,
        type: "step",
        // A node that was dragged stays where it is.
        position: before.find((box) => box.id === id)?.position ?? places.get(id) ?? { x: 0, y: 0 },
        data: { kind, state: states[id] ?? null, selected: id === selected, mark: marks[id] ?? null },
        ariaLabel: [id, kind, marks[id]].filter(Boolean).join(", "),
      })),
    );
  }, [nodes, states, selected, marks, places, setBoxes]);
  const edges = nodes.flatMap(({ id, after }) =>
    after
      .filter((from) => nodes.some((known) => known.id === from))
      .map((from): Edge => {
        const [left, right] = [states[from]?.state, states[id]?.state];
        const className = right === "running" ? "flowing" : left === "ok" && right && right !== "idle" ? "done" : "";
        return { id: `${from} ${id}`, source: from, target: id, className };
      }),
  );
  return (
    <div className="canvas">
      {boxes.length > 0 && (
        <ReactFlow
          nodes={boxes}
          edges={edges}
          nodeTypes={TYPES}
          onNodesChange={onNodesChange}
          onNodeClick={(_, node) => onSelect(node.id)}
          nodesConnectable={Boolean(edit)}
          deleteKeyCode={edit ? "Backspace" : null}
          onConnect={({ source, target }) => edit?.connect(source, target)}
          onEdgesDelete={(removed) => {
            for (const edge of removed) edit?.disconnect(edge.source, edge.target);
          }}
          onNodesDelete={(removed) => {
            for (const node of removed) edit?.remove(node.id);
          }}
          fitView
          fitViewOptions={{ padding: 0.12, maxZoom: 1.1 }}
          minZoom={0.2}
          proOptions={{ hideAttribution: true }}
        >
          <Background gap={20} size={1} />
          <Controls showInteractive={false} />
        </ReactFlow>
      )}
    </div>
  );
}

function StepBox({ id, data }: NodeProps<Box>) {
  const { state } = data;
  return (
    <div
      className={`gnode ${state?.state ?? "none"} ${data.mark ?? ""} ${data.selected ? "selected" : ""}`}
      ref={(node) => {
        if (node) node.style.width = `${NODE.width}px`;
      }}
    >
      <Handle type="target" position={Position.Left} />
      <p className="row">
        <b className="clip grow">{id}</b>
        {state && (
          <span className={toneOf(state.state)}>
            <StateIcon state={state.state} />
          </span>
        )}
      </p>
      <p className="caption dim row">
        <span className="clip grow">{data.kind}</span>
        {data.mark && <span>{data.mark}</span>}
        {state?.ms != null && <span className="num">{duration(state.ms)}</span>}
        {state && state.attempts > 1 && <span className="num">{state.attempts} tries</span>}
      </p>
      <Handle type="source" position={Position.Right} />
    </div>
  );
}
