import { useState } from "react";
import type { Json } from "../api/types";

export interface InputField {
  name: string;
  type: string;
  required: boolean;
  start: string;
}

/** The fields of a graph's input, from its JSON Schema. */
export function inputFields(schema: Json | undefined): InputField[] {
  if (!schema || typeof schema !== "object" || Array.isArray(schema)) return [];
  const properties = (schema.properties ?? {}) as Record<string, { type?: string; default?: Json }>;
  const required = (schema.required ?? []) as string[];
  return Object.entries(properties).map(([name, { type = "string", default: start }]) => ({
    name,
    type,
    required: required.includes(name),
    start: start === undefined ? "" : typeof start === "string" ? start : JSON.stringify(start),
  }));
}

export function InputForm({ fields, onRun }: { fields: InputField[]; onRun: (input: Record<string, Json>) => void }) {
  const [values, setValues] = useState(() => Object.fromEntries(fields.map(({ name, start }) => [name, start])));
  return (
    <form
      className="ginput"
      onSubmit={(event) => {
        event.preventDefault();
        const given = fields.filter(({ name }) => values[name] !== "");
        onRun(Object.fromEntries(given.map(({ name, type }) => [name, inputValue(values[name] ?? "", type)])));
      }}
    >
      {fields.map(({ name, type, required }) => (
        <label key={name}>
          <span className="label">{name}</span>
          <input
            className="input"
            required={required}
            type={type === "number" || type === "integer" ? "number" : "text"}
            step="any"
            value={values[name]}
            onChange={(event) => setValues({ ...values, [name]: event.target.value })}
          />
        </label>
      ))}
      <button type="submit" className="btn primary small">
        Run with this input
      </button>
    </form>
  );
}

function inputValue(text: string, type: string): Json {
  if (type === "string") return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text; // the server says that it does not fit
  }
}
