import "@xyflow/react/dist/base.css";
import { Background, Controls, type Edge, Handle, type Node, type NodeProps, Position, ReactFlow } from "@xyflow/react";
import { useMemo } from "react";
import type { RelationshipView, Table } from "../api/types";
import { address, navigate } from "../app/router";
import { plural } from "../shared/format";
import { BOX, layoutTables } from "./diagramLayout";
import { linesOf } from "./relationshipEnds";

type TableNode = Node<{ name: string; rows: number | null; current: boolean }, "table">;

interface Props {
  tables: Table[];
  relationships: RelationshipView[];
  current: string | null;
  source: string;
  className?: string;
  /** Hears of a line that was drawn from one table to another. */
  onConnect?: (from: string, to: string) => void;
}

const NODE_TYPES = { table: TableBox };
const SMALL_BOX = { width: 92, height: 42 };

/** Tables and how they are joined. The list beside it says the same in words. */
export default function Diagram({ tables, relationships, current, source, className = "", onConnect }: Props) {
  const { nodes, edges } = useMemo(() => drawn(tables, relationships, current, className ? SMALL_BOX : BOX), [tables, relationships, current, className]);
  const key = nodes.map((node) => node.id).join();
  return (
    <div className={`diagram ${className}`}>
      <ReactFlow
        key={key}
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        fitView
        fitViewOptions={{ padding: 0.12, maxZoom: 1 }}
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
      <Handle type="target" position={Position.Left} />
      <b>{data.name}</b>
      <span className="dim num">{data.rows === null ? "" : plural(data.rows, "row")}</span>
      <Handle type="source" position={Position.Right} />
    </div>
  );
}

function drawn(tables: Table[], relationships: RelationshipView[], current: string | null, box: typeof BOX): { nodes: TableNode[]; edges: Edge[] } {
  const places = layoutTables(tables.map((table) => table.name), relationships.map((known) => [known.from_table, known.to_table]), box);
  const nodes = tables.map((table): TableNode => ({
    id: table.name,
    type: "table",
    position: places.get(table.name) ?? { x: 0, y: 0 },
    data: { name: table.name, rows: table.row_count, current: table.name === current },
  }));
  const edges = linesOf(relationships).map((known): Edge => ({
    id: [known.from_table, known.to_table, known.origin].join("\0"),
    source: known.from_table,
    target: known.to_table,
    className: known.origin === "inferred" ? "inf" : "",
    label: known.from_columns.join(", "),
  }));
  return { nodes, edges };
}
