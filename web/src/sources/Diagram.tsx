import "@xyflow/react/dist/base.css";
import {
  Background,
  BaseEdge,
  Controls,
  type Edge,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from "@xyflow/react";
import { useMemo } from "react";
import type { RelationshipView, Table } from "../api/types";
import { roundCount } from "../shared/format";
import { address, navigate } from "../shared/router";
import { BOX, layoutTables, markAt, type Point, pathThrough } from "./diagramLayout";
import { linesOf } from "./relationshipEnds";

type JoinEdge = Edge<{ points: Point[]; middle: Point }, "join">;
type TableNode = Node<{ name: string; rows: number | null; current: boolean; down: boolean }, "table">;

interface Props {
  tables: Table[];
  relationships: RelationshipView[];
  current: string | null;
  source: string;
  className?: string;
  /** Called when the user draws a line from one table to another. */
  onConnect?: (from: string, to: string) => void;
}

const NODE_TYPES = { table: TableBox };
const EDGE_TYPES = { join: JoinLine };
const SMALL_BOX = { width: 88, height: 42 };

/** A diagram of tables and their relationships. The list beside it gives the same as text. */
export default function Diagram({ tables, relationships, current, source, className = "", onConnect }: Props) {
  const { nodes, edges, width, height } = useMemo(
    () => drawn(tables, relationships, current, className ? SMALL_BOX : BOX),
    [tables, relationships, current, className],
  );
  const key = nodes.map((node) => node.id).join();
  return (
    <div className={`diagram ${className}`}>
      <ReactFlow
        key={key}
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        onInit={(flow) => void flow.fitBounds({ x: 0, y: 0, width, height }, { padding: 0.03 })}
        minZoom={0.1}
        maxZoom={1.4}
        nodesConnectable={Boolean(onConnect)}
        onConnect={({ source: from, target: to }) => onConnect?.(from, to)}
        nodesDraggable={false}
        edgesFocusable={false}
        proOptions={{ hideAttribution: true }}
        preventScrolling={className !== "small"}
        onNodeClick={(_, node) => navigate(address("sources", source, node.id))}
      >
        {className !== "small" && <Controls showInteractive={false} />}
        {className !== "small" && <Background />}
      </ReactFlow>
    </div>
  );
}

function TableBox({ data }: NodeProps<TableNode>) {
  return (
    <div className={`er-box ${data.current ? "cur" : ""}`}>
      <Handle type="target" position={data.down ? Position.Top : Position.Left} />
      <b dir="auto">{data.name}</b>
      <span className="dim num">
        {data.rows === null ? "" : `${roundCount(data.rows)} ${data.rows === 1 ? "row" : "rows"}`}
      </span>
      <Handle type="source" position={data.down ? Position.Bottom : Position.Right} />
    </div>
  );
}

/** The line of a relationship: many rows of the first table belong to one row of the other. */
function JoinLine({ data, label }: EdgeProps<JoinEdge>) {
  const { points, middle } = data ?? { points: [], middle: { x: 0, y: 0 } };
  const marks = [
    ["n", points[0], points[1]],
    ["1", points.at(-1), points.at(-2)],
  ] as const;
  return (
    <>
      <BaseEdge path={pathThrough(points)} label={label} labelX={middle.x} labelY={middle.y} />
      {marks.map(([mark, end, next]) => end && next && <EndMark key={mark} mark={mark} at={markAt(end, next)} />)}
    </>
  );
}

function EndMark({ mark, at }: { mark: string; at: Point }) {
  return (
    <text className="er-end" x={at.x} y={at.y}>
      {mark}
    </text>
  );
}

function drawn(
  tables: Table[],
  relationships: RelationshipView[],
  current: string | null,
  box: typeof BOX,
): { nodes: TableNode[]; edges: JoinEdge[]; width: number; height: number } {
  const lines = linesOf(relationships);
  const { places, ways, width, height } = layoutTables(
    tables.map((table) => table.name),
    lines.map((known) => ({ from: known.from_table, to: known.to_table, label: known.from_columns.join(", ") })),
    box,
  );
  const nodes = tables.map(
    (table): TableNode => ({
      id: table.name,
      type: "table",
      position: places.get(table.name) ?? { x: 0, y: 0 },
      data: { name: table.name, rows: table.row_count, current: table.name === current, down: box === BOX },
    }),
  );
  const edges = lines.flatMap((known, place): JoinEdge[] => {
    const way = ways[place];
    if (!way) return [];
    return [
      {
        id: [known.from_table, known.to_table, known.origin].join("\0"),
        type: "join",
        source: known.from_table,
        target: known.to_table,
        className: known.origin === "inferred" ? "inf" : "",
        label: known.from_columns.join(", "),
        data: { points: way.points, middle: way.label },
      },
    ];
  });
  return { nodes, edges, width, height };
}
