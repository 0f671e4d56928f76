import type { PlanNode } from "../api/events";

const NAMES: Record<string, string> = {
  understand: "Understand",
  sql: "Query",
  present: "Check and write",
  combine: "Combine",
  python: "Compute",
  cypher: "Graph query",
  api: "API calls",
  advice: "Advice",
  react: "Explore",
  clarify: "Ask back",
};

const KINDS: Record<string, string> = {
  understand: "question",
  sql: "SQL",
  present: "answer",
  combine: "join",
  python: "Python",
  cypher: "Cypher",
  api: "API",
};

/** What people read for a step; a plan's own name for it where it has one. */
export function stepName(node: PlanNode): string {
  const title = node.config?.title;
  if (typeof title === "string" && title) return title;
  const source = node.config?.source;
  if (node.kind === "sql" && typeof source === "string") return `Query ${source}`;
  return NAMES[node.kind] ?? readable(node.id.split("/").pop() ?? node.id);
}

export function kindName(kind: string): string {
  return KINDS[kind] ?? kind;
}

export function readable(name: string): string {
  const words = name.replace(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
