import { type Document, isMap, isScalar, LineCounter, parseDocument } from "yaml";
import type { Json } from "../api/types";

/** Edits of a graph's text that keep its comments and everything else as it was written. Pure functions. */

export interface TextNode {
  id: string;
  kind: string;
  fields: Record<string, Json>;
  /** The first and the last line of the node in the text, counted from 1. */
  lines: [number, number];
}

export function nodesIn(text: string): TextNode[] {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const nodes = document.get("nodes");
  if (!isMap(nodes)) return [];
  return nodes.items.flatMap((pair) => {
    const id = isScalar(pair.key) ? String(pair.key.value) : null;
    if (id === null || !isMap(pair.value)) return [];
    const fields = pair.value.toJS(document) as Record<string, Json>;
    const start = isScalar(pair.key) ? (pair.key.range?.[0] ?? 0) : 0;
    const end = Math.max(start, (pair.value.range?.[1] ?? start + 1) - 1);
    const lines: [number, number] = [counter.linePos(start).line, counter.linePos(end).line];
    return [{ id, kind: String(fields.kind ?? ""), fields, lines }];
  });
}

export function nameIn(text: string): string | null {
  const name: unknown = parseDocument(text).get("name");
  return typeof name === "string" ? name : null;
}

export function withField(text: string, node: string, field: string, value: Json | undefined): string {
  return edited(text, (document) => {
    if (value === undefined || value === "") document.deleteIn(["nodes", node, field]);
    else document.setIn(["nodes", node, field], value);
  });
}

/** Adds a node with the least that its kind needs, and gives it a name that is free. */
export function withNode(text: string, kind: string, fields: Record<string, Json>): [text: string, id: string] {
  const taken = new Set(nodesIn(text).map((node) => node.id));
  let id = kind;
  for (let number = 2; taken.has(id); number++) id = `${kind}_${number}`;
  return [edited(text, (document) => document.setIn(["nodes", id], document.createNode({ kind, ...fields }))), id];
}

export function withoutNode(text: string, id: string): string {
  return edited(text, (document) => {
    document.deleteIn(["nodes", id]);
    for (const node of nodesIn(text)) {
      const after = afterOf(node);
      if (after.includes(id))
        setAfter(
          document,
          node.id,
          after.filter((name) => name !== id),
        );
    }
  });
}

export function connected(text: string, from: string, to: string): string {
  const node = nodesIn(text).find((known) => known.id === to);
  if (!node || from === to || afterOf(node).includes(from)) return text;
  return edited(text, (document) => setAfter(document, to, [...afterOf(node), from]));
}

/** Takes away what `after` says. A reference in a template connects two nodes too; it stays. */
export function disconnected(text: string, from: string, to: string): string {
  const node = nodesIn(text).find((known) => known.id === to);
  if (!node) return text;
  return edited(text, (document) =>
    setAfter(
      document,
      to,
      afterOf(node).filter((name) => name !== from),
    ),
  );
}

function afterOf({ fields }: TextNode): string[] {
  return Array.isArray(fields.after) ? fields.after.map(String) : [];
}

function setAfter(document: Document, id: string, after: string[]): void {
  if (after.length) document.setIn(["nodes", id, "after"], document.createNode(after, { flow: true }));
  else document.deleteIn(["nodes", id, "after"]);
}

function edited(text: string, change: (document: Document) => void): string {
  const document = parseDocument(text);
  if (document.errors.length) return text;
  change(document);
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}
