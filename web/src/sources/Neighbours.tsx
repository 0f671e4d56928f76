import { Maximize2, TriangleAlert } from "lucide-react";
import { Suspense } from "react";
import type { Catalog, RelationshipView, Table } from "../api/types";
import { editRelationships, type RelationshipEdit, undoLast } from "../data/semantic";
import { count } from "../shared/format";
import { later } from "../shared/later";
import { toast } from "../shared/toasts";

const Diagram = later(() => import("./Diagram"));

interface Props {
  catalog: Catalog;
  table: Table;
  source: string;
  relationships: RelationshipView[];
  /** Called to show all tables. */
  onExpand: () => void;
}

/** A table and the tables it is joined with. */
export function Neighbours({ catalog, table, source, relationships, onExpand }: Props) {
  const all = relationships.length ? relationships : catalog.relationships.map(asView);
  const near = all.filter((known) => known.from_table === table.name || known.to_table === table.name);
  const names = new Set([table.name, ...near.flatMap((known) => [known.from_table, known.to_table])]);
  const guessed = near.find((known) => known.origin === "inferred");
  return (
    <aside className="rel" aria-label={`Relationships of ${table.name}`}>
      <div className="rh">
        <h4 className="clip grow">Relationships of {table.name}</h4>
        <button
          type="button"
          className="btn ghost icon small"
          aria-label="Show all relationships"
          title="Show all relationships"
          onClick={onExpand}
        >
          <Maximize2 className="i i-s" aria-hidden />
        </button>
      </div>
      {near.length > 0 ? (
        <Suspense fallback={<div className="diagram small" />}>
          <Diagram
            className="small"
            tables={catalog.tables.filter((known) => names.has(known.name))}
            relationships={near}
            current={table.name}
            source={source}
          />
        </Suspense>
      ) : (
        <p className="dim">No relationship with another table was found.</p>
      )}
      {guessed && <GuessCard relationship={guessed} source={source} />}
      <dl className="rl">
        {near.map((known) => (
          <div key={known.name}>
            <dt className="mono">
              {known.from_table === table.name
                ? known.from_columns.join(", ")
                : `${known.from_table}.${known.from_columns.join(", ")}`}
            </dt>
            <dd>
              {[
                known.from_table === table.name ? known.to_table : null,
                known.origin === "inferred" ? "seen in the values" : "declared",
                orphans(known),
              ]
                .filter(Boolean)
                .join(", ")}
            </dd>
          </div>
        ))}
      </dl>
    </aside>
  );
}

export function asView(relationship: Catalog["relationships"][number]): RelationshipView {
  return { ...relationship, orphan_rows: null };
}

export function orphans(relationship: RelationshipView): string | null {
  if (relationship.orphan_rows === null) return null;
  return relationship.orphan_rows === 0 ? "no orphans" : `${count(relationship.orphan_rows)} orphans`;
}

export function endsOf(relationship: RelationshipView): { from: string; to: string } {
  return {
    from: `${relationship.from_table}.${relationship.from_columns.join(", ")}`,
    to: `${relationship.to_table}.${relationship.to_columns.join(", ")}`,
  };
}

/** The edit of the semantic file that accepts or hides a relationship. */
export function editOf(relationship: RelationshipView, hidden: boolean): RelationshipEdit {
  const { from_table, from_columns, to_table, to_columns } = relationship;
  return { from: { table: from_table, columns: from_columns }, to: { table: to_table, columns: to_columns }, hidden };
}

export async function decide(source: string, relationship: RelationshipView, hidden: boolean): Promise<void> {
  const { from } = endsOf(relationship);
  const note = hidden ? `${from} is not used to join` : `${from} leads to ${relationship.to_table}`;
  await editRelationships(source, [editOf(relationship, hidden)], note);
  toast(hidden ? `${from} is no longer used for joins` : `${from} now joins ${relationship.to_table}`, {
    action: { label: "Undo", run: () => void undoLast(source) },
  });
}

/** Accepts or rejects an inferred relationship. */
export function GuessCard({ relationship, source }: { relationship: RelationshipView; source: string }) {
  const { from, to } = endsOf(relationship);
  return (
    <div className="relcard">
      <header>
        <TriangleAlert className="i" aria-hidden />
        <b>Inferred from the values, not declared</b>
      </header>
      <p>
        <span className="mono">{from}</span> matches <span className="mono">{to}</span>
        {relationship.orphan_rows ? `; ${count(relationship.orphan_rows)} rows match none.` : "."}
      </p>
      <div className="row">
        <button type="button" className="btn small primary" onClick={() => void decide(source, relationship, false)}>
          Use it
        </button>
        <button type="button" className="btn small" onClick={() => void decide(source, relationship, true)}>
          Do not use
        </button>
      </div>
    </div>
  );
}
