import { useEffect, useRef, useState } from "react";
import { api, Problem } from "../api/client";
import type { ModelCheck, ModelsOverview } from "../api/types";
import { Status } from "../shared/Status";
import { toast } from "../shared/toasts";
import { changed } from "./changeModels";
import { Outcome } from "./ModelList";

const NAMES: Record<string, string> = {
  openai: "OpenAI",
  anthropic: "Anthropic",
  google: "Google",
  azure: "Azure OpenAI",
  bedrock: "Amazon Bedrock",
  ollama: "Ollama, on this machine",
  compatible: "OpenAI-compatible server",
};
const FIRST = ["openai", "anthropic", "google", "ollama", "compatible"];
const EXAMPLES: Record<string, string> = {
  openai: "gpt-5.5",
  anthropic: "claude-opus-4-5",
  google: "gemini-3-pro",
  ollama: "qwen3:8b",
  compatible: "mistral-large",
};
const USES: [string, string][] = [
  ["everything", "Everything"],
  ["reasoning", "Planning and judging"],
  ["coding", "Writing queries and programs"],
];

type Trial = "none" | "running" | ModelCheck | Problem;

/** One short form. The model is tried before it is added; one that fails can be added all the same. */
export function AddModel({ models, onDone }: { models: ModelsOverview; onDone: () => void }) {
  const [values, setValues] = useState({
    provider: "openai",
    model: "",
    base_url: "",
    key: "",
    used_for: "everything",
  });
  const [trial, setTrial] = useState<Trial>("none");
  const first = useRef<HTMLSelectElement>(null);
  useEffect(() => first.current?.focus(), []);
  const needs = models.providers.find(({ name }) => name === values.provider)?.needs ?? "key";
  const set = (field: keyof typeof values) => (event: React.ChangeEvent<HTMLInputElement | HTMLSelectElement>) => {
    setTrial("none");
    setValues({ ...values, [field]: event.target.value.trimStart() });
  };
  const body = { ...values, model: values.model.trim(), base_url: values.base_url.trim(), key: values.key || null };
  const add = async () => {
    const problem = await changed(api.post("/models", body));
    if (problem) return setTrial(problem);
    toast(`${body.model} is added`);
    onDone();
  };
  const submit = async (event: React.FormEvent) => {
    event.preventDefault();
    setTrial("running");
    try {
      const found = await api.post<ModelCheck>("/models/check-new", body);
      setTrial(found);
      if (found.works) await add();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setTrial(error);
    }
  };
  const failed = trial !== "none" && trial !== "running" && !(trial instanceof Problem) && !trial.works;
  const providers = [...models.providers].sort((a, b) => rank(a.name) - rank(b.name));
  return (
    <form className="addm" aria-label="Add a model" onSubmit={(event) => void submit(event)}>
      <div className="fields">
        <label>
          <span className="label">Provider</span>
          <select ref={first} className="input" value={values.provider} onChange={set("provider")}>
            {providers.map(({ name }) => (
              <option key={name} value={name}>
                {NAMES[name] ?? name}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span className="label">Model</span>
          <input
            className="input"
            required
            autoComplete="off"
            spellCheck={false}
            placeholder={EXAMPLES[values.provider]}
            value={values.model}
            onChange={set("model")}
          />
        </label>
        <label>
          <span className="label">Address{needs.includes("url") ? "" : ", if not the usual one"}</span>
          <input
            className="input"
            type="url"
            required={needs.includes("url")}
            placeholder={needs.includes("url") ? "https://host/v1" : ""}
            value={values.base_url}
            onChange={set("base_url")}
          />
        </label>
        <label>
          <span className="label">Used for</span>
          <select className="input" value={values.used_for} onChange={set("used_for")}>
            {USES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span className="label">Key{needs.includes("key") ? "" : ", if it wants one"}</span>
          <input className="input" type="password" autoComplete="off" value={values.key} onChange={set("key")} />
          <span className="hintline">Written to the settings of the server, never shown again.</span>
        </label>
      </div>
      <div className="res" role="status">
        {trial === "running" && <Status state="running">Testing with a few small requests …</Status>}
        {trial instanceof Problem && (
          <>
            <Status state="error">{trial.message}</Status>
            <span>{trial.hint}</span>
          </>
        )}
        {trial !== "none" && trial !== "running" && !(trial instanceof Problem) && <Outcome check={trial} />}
      </div>
      <div className="row">
        <button type="submit" className="btn primary" disabled={trial === "running"}>
          {failed ? "Test again" : "Test and add"}
        </button>
        {failed && (
          <button type="button" className="btn" onClick={() => void add()}>
            Add all the same
          </button>
        )}
        <button type="button" className="btn ghost" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function rank(name: string): number {
  const place = FIRST.indexOf(name);
  return place < 0 ? FIRST.length : place;
}
