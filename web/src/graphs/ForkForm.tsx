import { Pencil, RotateCcw } from "lucide-react";
import { useId, useState } from "react";
import { api, Problem, path } from "../api/client";
import type { Json } from "../api/types";
import { refresh } from "../shared/fetched";
import { address, navigate } from "../shared/router";
import { toast } from "../shared/toasts";

interface Props {
  run: string;
  node: string;
  graph: string | null;
  output: Json;
}

/** A new run that begins at a node of this one: the node is done again, or its output is replaced by another. */
export function ForkForm({ run, node, graph, output }: Props) {
  const id = useId();
  const [text, setText] = useState<string | null>(null);
  const fork = async (body: { node?: string; outputs?: Record<string, Json> }) => {
    try {
      const { run_id } = await api.post<{ run_id: string }>(path`/runs/${run}/fork`, body);
      refresh("/graphs");
      navigate(address("graphs", graph ?? "", run_id));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      toast([error.message, error.hint].filter(Boolean).join(" "), { state: "error" });
    }
  };
  if (text === null)
    return (
      <p className="row">
        <button type="button" className="btn small" onClick={() => void fork({ node })}>
          <RotateCcw className="i i-s" aria-hidden />
          Run from here
        </button>
        <button
          type="button"
          className="btn ghost small"
          onClick={() => setText(typeof output === "string" ? output : JSON.stringify(output, null, 2))}
        >
          <Pencil className="i i-s" aria-hidden />
          With another output
        </button>
      </p>
    );
  return (
    <div className="gfork">
      <label className="label" htmlFor={id}>
        Output of {node} in a new run
      </label>
      <textarea
        id={id}
        className="input area mono"
        rows={4}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <p className="row">
        <button
          type="button"
          className="btn primary small"
          onClick={() => void fork({ outputs: { [node]: read(text) } })}
        >
          Go on with this
        </button>
        <button type="button" className="btn ghost small" onClick={() => setText(null)}>
          Leave it
        </button>
      </p>
    </div>
  );
}

/** JSON if it is, else the text itself. */
function read(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
