import "@xyflow/react/dist/base.css";
import "./paths.css";
import { Controls, type Edge, Handle, MarkerType, type Node, type NodeProps, Position, ReactFlow } from "@xyflow/react";
import { useMemo, useState } from "react";
import type { AnswerGraph } from "../api/types";
import { plural } from "../shared/format";
import { layoutGraph, NODE } from "../shared/layoutGraph";
import { colourOf, drawnEdges, inPlainWords, inWords } from "./paths";

type Thing = Node<{ name: string; kind: string; colour: number; down: boolean }, "thing">;

const TYPES = { thing: ThingBox };
/** Room for the label of a line. */
const APART = { across: 96, down: 40 };
const [LOWEST, HIGHEST, AROUND] = [132, 420, 48];
/** Here ways lead down, because a row of boxes would be too small to read. */
const NARROW = "(max-width: 700px)";

/** The ways that an answer found, as a picture: things by kind, and what leads from one to the next. */
export default function PathFigure({ graph }: { graph: AnswerGraph }) {
  const [down] = useState(() => matchMedia(NARROW).matches);
  const { nodes, edges, height } = useMemo(() => drawn(graph, down), [graph, down]);
  return (
    <figure className="fig paths" aria-label="Ways, drawn">
      <figcaption>
        <b>How it is connected</b>
        <span className="dim">
          {plural(graph.nodes.length, "thing")}
          {graph.truncated && ", more in the table"}
        </span>
      </figcaption>
      <ul className="vh">
        {inWords(graph).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <div
        className="paths-canvas"
        ref={(box) => {
          if (box) box.style.height = `${height}px`;
        }}
      >
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={TYPES}
          nodesDraggable={false}
          nodesConnectable={false}
          elementsSelectable={false}
          edgesFocusable={false}
          disableKeyboardA11y
          // The wheel scrolls the conversation; the buttons zoom.
          zoomOnScroll={false}
          preventScrolling={false}
          fitView
          fitViewOptions={{ padding: 0.06, maxZoom: 1 }}
          minZoom={0.2}
          proOptions={{ hideAttribution: true }}
        >
          <Controls showInteractive={false} position="top-right" orientation="horizontal" />
        </ReactFlow>
      </div>
    </figure>
  );
}

function drawn(graph: AnswerGraph, down: boolean) {
  const colours = colourOf(graph);
  const lines = drawnEdges(graph);
  const after = graph.nodes.map(({ id }) => ({
    id,
    after: lines.filter(({ target }) => target === id).map(({ source }) => source),
  }));
  const places = layoutGraph(after, { apart: down ? APART.down : APART.across, down });
  const nodes = graph.nodes.map(
    ({ id, name, kind }): Thing => ({
      id,
      type: "thing",
      position: places.get(id) ?? { x: 0, y: 0 },
      data: { name, kind, colour: colours.get(kind) ?? 0, down },
      ariaLabel: `${name}, ${inPlainWords(kind)}`,
    }),
  );
  const edges = lines.map(
    ({ source, target, label, directed }): Edge => ({
      id: JSON.stringify([source, target]),
      source,
      target,
      label,
      ...(directed && { markerEnd: { type: MarkerType.ArrowClosed, color: "var(--idle-mark)" } }),
    }),
  );
  const lowest = Math.max(...nodes.map(({ position }) => position.y)) + NODE.height;
  return { nodes, edges, height: Math.min(HIGHEST, Math.max(LOWEST, lowest + AROUND)) };
}

function ThingBox({ data }: NodeProps<Thing>) {
  return (
    <div className={`thing c${data.colour}`} title={data.name}>
      <Handle type="target" position={data.down ? Position.Top : Position.Left} isConnectable={false} />
      <b className="clip">{data.name}</b>
      <span className="caption dim clip">{inPlainWords(data.kind)}</span>
      <Handle type="source" position={data.down ? Position.Bottom : Position.Right} isConnectable={false} />
    </div>
  );
}
