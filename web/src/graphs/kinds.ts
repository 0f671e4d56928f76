import type { Json } from "../api/types";

/** The kinds of nodes that can be added, each with the fields that its form shows and a beginning that is valid. */
export interface KindForm {
  kind: string;
  label: string;
  fields: { name: string; label: string; long?: boolean }[];
  begin: Record<string, Json>;
}

const WHEN = { name: "when", label: "Only when" };

export const KINDS: KindForm[] = [
  {
    kind: "sql",
    label: "Query",
    fields: [{ name: "source", label: "Source" }, { name: "sql", label: "SQL", long: true }, WHEN],
    begin: { source: "demo", sql: "select 1 as one" },
  },
  {
    kind: "ask",
    label: "Question",
    fields: [{ name: "source", label: "Source" }, { name: "question", label: "Question", long: true }, WHEN],
    begin: { source: "demo", question: "How many orders are there?" },
  },
  {
    kind: "python",
    label: "Program",
    fields: [{ name: "code", label: "Python", long: true }, WHEN],
    begin: { code: "result = 1" },
  },
  {
    kind: "transform",
    label: "Text or value",
    fields: [
      { name: "template", label: "Template", long: true },
      { name: "expression", label: "Expression", long: true },
      WHEN,
    ],
    begin: { template: "Text" },
  },
  {
    kind: "approval",
    label: "Decision of a person",
    fields: [
      { name: "prompt", label: "What is asked", long: true },
      { name: "show", label: "What is shown", long: true },
      { name: "rejected", label: "If rejected (fail or continue)" },
      WHEN,
    ],
    begin: { prompt: "Go on?" },
  },
  {
    kind: "agent",
    label: "Agent",
    fields: [
      { name: "agent", label: "Named agent" },
      { name: "prompt", label: "Prompt", long: true },
      { name: "model", label: "Model" },
      WHEN,
    ],
    begin: { prompt: "Say hello." },
  },
  {
    kind: "wait",
    label: "Wait",
    fields: [{ name: "seconds", label: "Seconds" }, { name: "event", label: "Event" }, WHEN],
    begin: { seconds: 1 },
  },
];

export function formOf(kind: string): KindForm {
  return KINDS.find((known) => known.kind === kind) ?? { kind, label: kind, fields: [WHEN], begin: {} };
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
