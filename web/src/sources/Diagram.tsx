import "@xyflow/react/dist/base.css";
import {
  Background,
  BaseEdge,
  Controls,
  type Edge,
  type EdgeProps,
  getBezierPath,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from "@xyflow/react";
import { useMemo } from "react";
import type { RelationshipView, Table } from "../api/types";
import { address, navigate } from "../app/router";
import { roundCount } from "../shared/format";
import { BOX, layoutTables } from "./diagramLayout";
import { linesOf } from "./relationshipEnds";

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
const LOOP = 26;
const SMALL_BOX = { width: 88, height: 42 };

/** A diagram of tables and their relationships. The list beside it gives the same as text. */
export default function Diagram({ tables, relationships, current, source, className = "", onConnect }: Props) {
  const { nodes, edges } = useMemo(
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
        fitView
        fitViewOptions={{ padding: 0.06, maxZoom: 1.4 }}
        minZoom={0.1}
        nodesConnectable={Boolean(onConnect)}
        onConnect={({ source: from, target: to }) => onConnect?.(from, to)}
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
function JoinLine(props: EdgeProps) {
  const { sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, label } = props;
  const down = sourcePosition === Position.Bottom;
  if (props.source === props.target)
    return (
      <LoopLine
        x={down ? sourceX + BOX.width / 2 : sourceX}
        y={down ? sourceY - BOX.height / 2 : sourceY}
        label={label}
      />
    );
  const [path, labelX, labelY] = getBezierPath({ sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition });
  const [dx, dy] = down ? [5, 13] : [4, -4];
  return (
    <>
      <BaseEdge path={path} label={label} labelX={labelX} labelY={labelY} />
      <text className="er-end" x={sourceX + dx} y={sourceY + dy}>
        n
      </text>
      <text className="er-end" x={targetX - 4} y={targetY - 4} textAnchor="end">
        1
      </text>
    </>
  );
}

/** The line of a table that refers to itself, beside its box. */
function LoopLine({ x, y, label }: { x: number; y: number; label: EdgeProps["label"] }) {
  const path = `M${x} ${y - 9}c${LOOP} -6 ${LOOP} 24 0 18`;
  return <BaseEdge path={path} label={label} labelX={x - BOX.width / 4} labelY={y + BOX.height / 2 + 10} />;
}

function drawn(
  tables: Table[],
  relationships: RelationshipView[],
  current: string | null,
  box: typeof BOX,
): { nodes: TableNode[]; edges: Edge[] } {
  const places = layoutTables(
    tables.map((table) => table.name),
    relationships.map((known) => [known.from_table, known.to_table]),
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
  const edges = linesOf(relationships).map(
    (known): Edge => ({
      id: [known.from_table, known.to_table, known.origin].join("\0"),
      type: "join",
      source: known.from_table,
      target: known.to_table,
      className: known.origin === "inferred" ? "inf" : "",
      label: known.from_columns.join(", "),
    }),
  );
  return { nodes, edges };
}
