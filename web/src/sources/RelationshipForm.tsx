import { useState } from "react";
import { Problem } from "../api/client";
import type { Catalog } from "../api/types";
import { editRelationships } from "../data/semantic";
import { toast } from "../shared/toasts";
import { columnFor } from "./relationshipEnds";

export interface Ends {
  from: string;
  to: string;
}

/** A form that declares a relationship. Drawing a line between two tables fills in both tables. */
export function RelationshipForm({
  catalog,
  source,
  ends,
  onEnds,
}: {
  catalog: Catalog;
  source: string;
  ends: Ends;
  onEnds: (ends: Ends) => void;
}) {
  const [problem, setProblem] = useState<string | null>(null);
  const tables = Object.fromEntries(catalog.tables.map((table) => [table.name, table]));
  const [chosen, setChosen] = useState<Partial<Ends>>({});
  const guess = columnFor(tables[ends.from], tables[ends.to]);
  const columns = { from: chosen.from ?? guess.from, to: chosen.to ?? guess.to };

  async function add(event: React.FormEvent) {
    event.preventDefault();
    try {
      const edit = {
        from: { table: ends.from, columns: [columns.from] },
        to: { table: ends.to, columns: [columns.to] },
      };
      await editRelationships(source, [edit], `${ends.from}.${columns.from} leads to ${ends.to}`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return setProblem([error.message, error.hint].filter(Boolean).join(" "));
    }
    setProblem(null);
    setChosen({});
    return toast(`${ends.from}.${columns.from} leads to ${ends.to} now`);
  }

  const end = (which: keyof Ends, word: string) => (
    <div className="row">
      <span className="dim caption">{word}</span>
      <Choice
        label={`Table ${word.toLowerCase()}`}
        value={ends[which]}
        options={Object.keys(tables)}
        onChange={(table) => {
          setChosen({});
          onEnds({ ...ends, [which]: table });
        }}
      />
      <Choice
        label={`Column ${word.toLowerCase()}`}
        value={columns[which]}
        options={tables[ends[which]]?.columns.map((column) => column.name) ?? []}
        onChange={(column) => setChosen({ ...chosen, [which]: column })}
      />
    </div>
  );
  return (
    <form className="relform" aria-label="Add a relationship" onSubmit={(event) => void add(event)}>
      {end("from", "From")}
      {end("to", "To")}
      <button
        type="submit"
        className="btn small"
        disabled={ends.from === ends.to || !columns.from || !columns.to}
        title={ends.from === ends.to ? "Choose two tables" : "Add"}
      >
        Add a relationship
      </button>
      {problem && (
        <p className="warn caption" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: string[];
  onChange: (value: string) => void;
}) {
  return (
    <select className="chip mono" aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      {options.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}
