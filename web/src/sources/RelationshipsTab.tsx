import { lazy, Suspense } from "react";
import { path } from "../api/client";
import type { Catalog, RelationshipList } from "../api/types";
import { useFetched } from "../shared/fetched";
import { Status } from "../shared/Status";
import { asView, GuessCard, orphans } from "./Neighbours";

const Diagram = lazy(() => import("./Diagram"));

export function RelationshipsTab({ catalog, source }: { catalog: Catalog; source: string }) {
  const found = useFetched<RelationshipList>(path`/sources/${source}/relationships`);
  const all = found.data?.relationships ?? catalog.relationships.map(asView);
  const guessed = all.filter((known) => known.origin === "inferred");
  return (
    <div className="rels">
      <Suspense fallback={<div className="diagram" />}>
        <Diagram tables={catalog.tables} relationships={all} current={null} source={source} />
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
              </tr>
            ))}
          </tbody>
        </table>
        {!all.length && <p className="none dim">No table leads to another.</p>}
      </div>
    </div>
  );
}
