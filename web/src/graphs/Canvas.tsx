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
import { StateIcon, toneOf } from "../shared/Status";
import { layoutGraph, NODE } from "./layoutGraph";
import type { NodeState } from "./nodeStates";

type Box = Node<{ kind: string; state: NodeState | null; selected: boolean }, "step">;

interface Props {
  nodes: GraphReport["nodes"];
  states: Record<string, NodeState>;
  selected: string | null;
  onSelect: (id: string) => void;
  onConnect: (from: string, to: string) => void;
  onDisconnect: (from: string, to: string) => void;
  onRemove: (id: string) => void;
}

const TYPES = { step: StepBox };

/** The graph as a picture that can be edited: nodes are dragged, and lines between them are drawn and removed. */
export default function Canvas({ nodes, states, selected, onSelect, onConnect, onDisconnect, onRemove }: Props) {
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
        data: { kind, state: states[id] ?? null, selected: id === selected },
        ariaLabel: `${id}, ${kind}`,
      })),
    );
  }, [nodes, states, selected, places, setBoxes]);
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
          onConnect={({ source, target }) => onConnect(source, target)}
          onEdgesDelete={(removed) => {
            for (const edge of removed) onDisconnect(edge.source, edge.target);
          }}
          onNodesDelete={(removed) => {
            for (const node of removed) onRemove(node.id);
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
      className={`gnode ${state?.state ?? "none"} ${data.selected ? "selected" : ""}`}
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
        {state?.ms != null && <span className="num">{duration(state.ms)}</span>}
        {state && state.attempts > 1 && <span className="num">{state.attempts} tries</span>}
      </p>
      <Handle type="source" position={Position.Right} />
    </div>
  );
}
