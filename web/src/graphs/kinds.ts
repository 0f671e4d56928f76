import type { Json } from "../api/types";

export interface FormField {
  name: string;
  label: string;
  /** Several lines. */
  long?: boolean;
  /** A value as JSON: a list, an object, a number. A text may still be written without quotes. */
  json?: boolean;
  choices?: readonly string[];
}

/** The kinds of nodes that can be added, each with the fields that its form shows and a beginning that is valid. */
export interface KindForm {
  kind: string;
  label: string;
  fields: FormField[];
  begin: Record<string, Json>;
}

const SOURCE: FormField = { name: "source", label: "Source" };
const GIVEN: FormField = { name: "input", label: "Further fields of the body's input (JSON)", long: true, json: true };
const BODY: FormField = { name: "body", label: "Body (JSON)", long: true, json: true };
const EFFECT: FormField = {
  name: "effect",
  label: "What it does outside",
  choices: ["none", "read", "write"],
};
/** What nodes of every kind can say. */
const COMMON: FormField[] = [
  { name: "when", label: "Only when" },
  { name: "critical", label: "A failure fails the run", choices: ["true", "false"], json: true },
  { name: "timeout", label: "Seconds for one attempt", json: true },
  { name: "retry", label: "Retries (JSON)", json: true },
  { name: "fallback", label: "Output that replaces a failure (JSON)", json: true },
];

export const KINDS: KindForm[] = [
  {
    kind: "sql",
    label: "Query",
    fields: [SOURCE, { name: "sql", label: "SQL", long: true }],
    begin: { source: "demo", sql: "select 1 as one" },
  },
  {
    kind: "ask",
    label: "Question",
    fields: [SOURCE, { name: "question", label: "Question", long: true }],
    begin: { source: "demo", question: "How many orders are there?" },
  },
  {
    kind: "cypher",
    label: "Query of a graph",
    fields: [SOURCE, { name: "cypher", label: "Cypher", long: true }],
    begin: { source: "social", cypher: "MATCH (n) RETURN count(*) AS n" },
  },
  {
    kind: "python",
    label: "Program",
    fields: [
      { name: "code", label: "Python", long: true },
      { name: "values", label: "Values that it can name (JSON)", long: true, json: true },
      { name: "api", label: "API that it may call" },
      EFFECT,
    ],
    begin: { code: "result = 1" },
  },
  {
    kind: "api",
    label: "Call of an API",
    fields: [
      { name: "api", label: "API of the settings" },
      { name: "method", label: "Method", choices: ["GET", "POST"] },
      { name: "path", label: "Path" },
      { name: "params", label: "Parameters (JSON)", json: true },
      { name: "body", label: "Body (JSON)", long: true, json: true },
      EFFECT,
    ],
    begin: { api: "name", path: "/" },
  },
  {
    kind: "tool",
    label: "Tool of agents",
    fields: [
      {
        name: "tool",
        label: "Tool",
        choices: [
          "list_datasets",
          "get_dataset_schema",
          "column_statistics",
          "search_schema",
          "column_values",
          "execute_query_plan",
        ],
      },
      SOURCE,
      { name: "arguments", label: "Arguments (JSON)", long: true, json: true },
    ],
    begin: { tool: "list_datasets", source: "demo" },
  },
  {
    kind: "transform",
    label: "Text or value",
    fields: [
      { name: "template", label: "Template", long: true },
      { name: "expression", label: "Expression", long: true },
      { name: "value", label: "Value (JSON)", long: true, json: true },
    ],
    begin: { template: "Text" },
  },
  {
    kind: "router",
    label: "Routes",
    fields: [
      { name: "routes", label: "Conditions by route (JSON)", long: true, json: true },
      { name: "default", label: "Route if none holds" },
    ],
    begin: { routes: { given: "input not_empty" }, default: "other" },
  },
  {
    kind: "map",
    label: "For each item",
    fields: [
      { name: "over", label: "List", json: true },
      { name: "concurrency", label: "At the same time", json: true },
      { name: "most", label: "Items at most", json: true },
      GIVEN,
      BODY,
    ],
    begin: { over: [1, 2], body: { nodes: { same: { kind: "transform", value: "{{ input.item }}" } } } },
  },
  {
    kind: "loop",
    label: "Again and again",
    fields: [
      { name: "until", label: "Until" },
      { name: "most", label: "Rounds at most", json: true },
      { name: "start", label: "What the first round gets (JSON)", json: true },
      { name: "exhausted", label: "If it never holds", choices: ["fail", "keep"] },
      GIVEN,
      BODY,
    ],
    begin: { most: 2, body: { nodes: { round: { kind: "transform", value: "{{ input.round }}" } } } },
  },
  {
    kind: "join",
    label: "Outputs together",
    fields: [{ name: "mode", label: "As", choices: ["object", "list", "first"] }],
    begin: {},
  },
  {
    kind: "subgraph",
    label: "Graph inside",
    fields: [{ name: "graph", label: "Stored graph (NAME or NAME@VERSION)" }, GIVEN, BODY],
    begin: { body: { nodes: { inner: { kind: "transform", value: 1 } } } },
  },
  {
    kind: "approval",
    label: "Decision of a person",
    fields: [
      { name: "prompt", label: "What is asked", long: true },
      { name: "show", label: "What is shown", long: true, json: true },
      { name: "rejected", label: "If rejected", choices: ["fail", "continue"] },
      { name: "deadline", label: "Seconds until the default counts", json: true },
      { name: "default", label: "Default", choices: ["approve", "reject"] },
    ],
    begin: { prompt: "Go on?" },
  },
  {
    kind: "agent",
    label: "Agent",
    fields: [
      { name: "agent", label: "Named agent" },
      { name: "inputs", label: "Inputs of the named agent (JSON)", json: true },
      { name: "prompt", label: "Prompt", long: true },
      { name: "instructions", label: "Instructions", long: true },
      { name: "model", label: "Model" },
      { name: "temperature", label: "Temperature", json: true },
      { name: "top_p", label: "Top p", json: true },
      { name: "max_tokens", label: "Tokens at most", json: true },
      { name: "tools", label: "Tools (JSON list)", json: true },
      SOURCE,
      { name: "output", label: "JSON Schema of the reply", long: true, json: true },
    ],
    begin: { prompt: "Say hello." },
  },
  {
    kind: "wait",
    label: "Wait",
    fields: [
      { name: "seconds", label: "Seconds", json: true },
      { name: "until", label: "Until" },
      { name: "event", label: "Event" },
      { name: "within", label: "Seconds to wait for the event", json: true },
      { name: "missed", label: "If it does not come", choices: ["fail", "continue"] },
    ],
    begin: { seconds: 1 },
  },
  {
    kind: "emit",
    label: "Tell of an event",
    fields: [
      { name: "event", label: "Event" },
      { name: "data", label: "Data (JSON)", long: true, json: true },
    ],
    begin: { event: "happened" },
  },
  {
    kind: "raise",
    label: "Fail",
    fields: [{ name: "message", label: "Message", long: true }],
    begin: { message: "Something is wrong." },
  },
];

export function formOf(kind: string): KindForm {
  const form = KINDS.find((known) => known.kind === kind) ?? { kind, label: kind, fields: [], begin: {} };
  return { ...form, fields: [...form.fields, ...COMMON] };
}

/** What somebody wrote into a field, as the value that the text of the graph gets; undefined takes the field away. */
export function valueIn(field: FormField, text: string): Json | undefined {
  if (text.trim() === "") return undefined;
  if (!field.json) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text; // `{{ orders.rows }}` needs no quotes
  }
}

/** The value of a field as it is shown. */
export function textOf(field: FormField, value: Json | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  return field.long ? JSON.stringify(value, null, 2) : JSON.stringify(value);
}

export const NEW_GRAPH = `name: new-graph
description: What it is for.
nodes:
  orders:
    kind: sql
    source: demo
    sql: select count(*) as orders from orders
  text:
    kind: transform
    template: "{{ orders.value }} orders"
output: text
`;
