import { TriangleAlert } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { path } from "../api/client";
import type { Catalog, RelationshipList, RelationshipView } from "../api/types";
import { toast } from "../app/toasts";
import { useFetched } from "../shared/fetched";
import { plural } from "../shared/format";
import { Status } from "../shared/Status";
import { asView, decide, endsOf, orphans } from "./Neighbours";
import { type Ends, RelationshipForm } from "./RelationshipForm";
import { editRelationships } from "./semantic";

const Diagram = lazy(() => import("./Diagram"));

export function RelationshipsTab({ catalog, source }: { catalog: Catalog; source: string }) {
  const found = useFetched<RelationshipList>(path`/sources/${source}/relationships`);
  const all = found.data?.relationships ?? catalog.relationships.map(asView);
  const guessed = all.filter((known) => known.origin === "inferred");
  const [ends, setEnds] = useState<Ends>({ from: catalog.tables[0]?.name ?? "", to: catalog.tables[1]?.name ?? "" });
  return (
    <div className="rels">
      <Suspense fallback={<div className="diagram" />}>
        <Diagram tables={catalog.tables} relationships={all} current={null} source={source} onConnect={(from, to) => setEnds({ from, to })} />
      </Suspense>
      <div className="rel scroll" tabIndex={0}>
        {guessed.length > 0 && <Guesses guessed={guessed} source={source} />}
        <table className="data">
          <thead>
            <tr>
              <th>From</th>
              <th>To</th>
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
        {!all.length && <p className="none dim">No table leads to another.</p>}
        {catalog.tables.length > 1 && <RelationshipForm catalog={catalog} source={source} ends={ends} onEnds={setEnds} />}
      </div>
    </div>
  );
}

/** One decision for all that nobody declared; each has its own in the list below. */
function Guesses({ guessed, source }: { guessed: RelationshipView[]; source: string }) {
  const useAll = async () => {
    await editRelationships(source, ...guessed.map((known) => ({ ...endsOf(known), hidden: false })));
    toast(`${plural(guessed.length, "relationship")} declared`);
  };
  return (
    <div className="relcard">
      <header>
        <TriangleAlert className="i" aria-hidden />
        <b className="grow">{plural(guessed.length, "relationship")} seen in the values, not declared</b>
        <button type="button" className="btn small primary" onClick={() => void useAll()}>
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
      <td className="mono">{from}</td>
      <td className="mono">{to}</td>
      <td>
        <Status state={guessed ? "warn" : "ok"}>{[guessed ? "seen" : "declared", orphans(relationship)].filter(Boolean).join(", ")}</Status>
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
