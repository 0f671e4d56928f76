import { TriangleAlert } from "lucide-react";
import { Suspense, useMemo, useState } from "react";
import { path } from "../api/client";
import type { Catalog, RelationshipList, RelationshipView } from "../api/types";
import { editRelationships } from "../data/semantic";
import { useFetched } from "../shared/fetched";
import { plural } from "../shared/format";
import { later } from "../shared/later";
import { Status } from "../shared/Status";
import { toast } from "../shared/toasts";
import { around, busiest, MOST_DRAWN } from "./diagramLayout";
import { asView, decide, editOf, endsOf, orphans } from "./Neighbours";
import { type Ends, RelationshipForm } from "./RelationshipForm";

const Diagram = later(() => import("./Diagram"));

export function RelationshipsTab({ catalog, source }: { catalog: Catalog; source: string }) {
  const found = useFetched<RelationshipList>(path`/sources/${source}/relationships`);
  const all = found.data?.relationships ?? catalog.relationships.map(asView);
  const guessed = all.filter((known) => known.origin === "inferred");
  const [ends, setEnds] = useState<Ends>({ from: catalog.tables[0]?.name ?? "", to: catalog.tables[1]?.name ?? "" });
  return (
    <div className="rels">
      <Drawing catalog={catalog} relationships={all} source={source} onConnect={(from, to) => setEnds({ from, to })} />
      <div className="rel scroll" tabIndex={0}>
        {guessed.length > 0 && <Guesses guessed={guessed} source={source} />}
        <table className="data">
          <thead>
            <tr>
              <th>Relationship</th>
              <th>State</th>
              <th>
                <span className="vh">Change</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {all.map((known) => (
              <RelationshipRow key={endsOf(known).from + endsOf(known).to} relationship={known} source={source} />
            ))}
          </tbody>
        </table>
        {!all.length && <p className="none dim">No relationship between tables was found.</p>}
        {catalog.tables.length > 1 && (
          <RelationshipForm catalog={catalog} source={source} ends={ends} onEnds={setEnds} />
        )}
      </div>
    </div>
  );
}

interface DrawingProps {
  catalog: Catalog;
  relationships: RelationshipView[];
  source: string;
  onConnect: (from: string, to: string) => void;
}

/** A diagram of all tables, or, if there are very many, of those around one. */
function Drawing({ catalog, relationships, source, onConnect }: DrawingProps) {
  const pairs = useMemo(
    () => relationships.map((known) => [known.from_table, known.to_table] as const),
    [relationships],
  );
  const names = catalog.tables.map((table) => table.name);
  const many = names.length > MOST_DRAWN;
  const [chosen, setChosen] = useState<string | null>(null);
  const middle = chosen ?? (many ? busiest(names, pairs) : null);
  const near = useMemo(() => (middle ? new Set(around(middle, pairs)) : null), [middle, pairs]);
  const tables = useMemo(() => catalog.tables.filter((table) => !near || near.has(table.name)), [catalog, near]);
  const lines = useMemo(
    () => relationships.filter((known) => !near || (near.has(known.from_table) && near.has(known.to_table))),
    [relationships, near],
  );
  return (
    <div className="drawing">
      {many && (
        <label className="drawn-around">
          <span className="dim caption">
            {tables.length} of {plural(names.length, "table")}, around
          </span>
          <select className="chip mono" value={middle ?? ""} onChange={(event) => setChosen(event.target.value)}>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      <Suspense fallback={<div className="diagram" />}>
        <Diagram tables={tables} relationships={lines} current={middle} source={source} onConnect={onConnect} />
      </Suspense>
    </div>
  );
}

/** Accepts or rejects all inferred relationships at once. The list below has buttons for each. */
function Guesses({ guessed, source }: { guessed: RelationshipView[]; source: string }) {
  const declareAll = async () => {
    const note = `${plural(guessed.length, "relationship")} declared`;
    await editRelationships(
      source,
      guessed.map((known) => editOf(known, false)),
      note,
    );
    toast(note);
  };
  return (
    <div className="relcard">
      <header>
        <TriangleAlert className="i" aria-hidden />
        <b className="grow">{plural(guessed.length, "relationship")} inferred from the values, not declared</b>
        <button type="button" className="btn small primary" onClick={() => void declareAll()}>
          {guessed.length > 1 ? `Use all ${guessed.length}` : "Use it"}
        </button>
      </header>
    </div>
  );
}

function RelationshipRow({ relationship, source }: { relationship: RelationshipView; source: string }) {
  const { from, to } = endsOf(relationship);
  const guessed = relationship.origin === "inferred";
  return (
    <tr>
      <td className="ends">
        <span className="mono clip">{from}</span>
        <span className="mono clip dim">→ {to}</span>
      </td>
      <td>
        <Status state={guessed ? "warn" : "ok"}>
          {[guessed ? "seen" : "declared", orphans(relationship)].filter(Boolean).join(", ")}
        </Status>
      </td>
      <td className="r">
        {guessed && (
          <button type="button" className="btn ghost small" onClick={() => void decide(source, relationship, false)}>
            Use
          </button>
        )}
        <button type="button" className="btn ghost small" onClick={() => void decide(source, relationship, true)}>
          Do not use
        </button>
      </td>
    </tr>
  );
}
