import { lazy, Suspense, useState } from "react";
import { path } from "../api/client";
import type { Catalog, RelationshipList } from "../api/types";
import { useFetched } from "../shared/fetched";
import { Status } from "../shared/Status";
import { toast } from "../app/toasts";
import { asView, GuessCard, orphans } from "./Neighbours";
import { type Ends, RelationshipForm } from "./RelationshipForm";
import { editRelationship } from "./semantic";

const Diagram = lazy(() => import("./Diagram"));

export function RelationshipsTab({ catalog, source }: { catalog: Catalog; source: string }) {
  const found = useFetched<RelationshipList>(path`/sources/${source}/relationships`);
  const all = found.data?.relationships ?? catalog.relationships.map(asView);
  const guessed = all.filter((known) => known.origin === "inferred");
  const [ends, setEnds] = useState<Ends>({ from: catalog.tables[0]?.name ?? "", to: catalog.tables[1]?.name ?? "" });
  const forget = async (from: string, to: string) => {
    await editRelationship(source, { from, to, hidden: true });
    toast(`${from} is not used to join any more. History can put it back.`);
  };
  return (
    <div className="rels">
      <Suspense fallback={<div className="diagram" />}>
        <Diagram tables={catalog.tables} relationships={all} current={null} source={source} onConnect={(from, to) => setEnds({ from, to })} />
      </Suspense>
      <div className="rel scroll" tabIndex={0}>
        {guessed.map((known) => (
          <GuessCard key={known.name} relationship={known} source={source} />
        ))}
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
              <tr key={known.name}>
                <td className="mono">
                  {known.from_table}.{known.from_columns.join(", ")}
                </td>
                <td className="mono">
                  {known.to_table}.{known.to_columns.join(", ")}
                </td>
                <td>
                  <Status state={known.origin === "inferred" ? "warn" : "ok"}>
                    {[known.origin === "inferred" ? "seen" : "declared", orphans(known)].filter(Boolean).join(", ")}
                  </Status>
                </td>
                <td className="r">
                  {known.origin !== "inferred" && (
                    <button type="button" className="btn ghost small" onClick={() => void forget(`${known.from_table}.${known.from_columns.join(", ")}`, `${known.to_table}.${known.to_columns.join(", ")}`)}>
                      Do not use
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {!all.length && <p className="none dim">No table leads to another.</p>}
        {catalog.tables.length > 1 && <RelationshipForm catalog={catalog} source={source} ends={ends} onEnds={setEnds} />}
      </div>
    </div>
  );
}
