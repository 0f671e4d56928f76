import { Check, Plus } from "lucide-react";

const WITHOUT = [
  "Totals, rankings, filters, periods, comparisons",
  "Joins along known relationships, paths in graphs",
  "Written SQL, Cypher and Python",
];
const WITH = ["Long and indirect wording", "Plans over several sources with code between", "Graphs with agents"];

/** What works without a model, and what one would add. */
export function NoModel({ onAdd }: { onAdd: () => void }) {
  return (
    <section className="box nomodel" aria-label="No language model is set">
      <h3>No language model is set</h3>
      <p>
        Questions are read without one: no key, no network, no cost, and the same answer each time. A model helps where
        the wording is far from the data, or where code has to be written.
      </p>
      <div className="compared">
        <div>
          <h4>Works now</h4>
          <ul>
            {WITHOUT.map((line) => (
              <li key={line}>
                <Check className="i i-s ok" aria-hidden />
                {line}
              </li>
            ))}
          </ul>
        </div>
        <div>
          <h4>A model adds</h4>
          <ul>
            {WITH.map((line) => (
              <li key={line}>
                <Plus className="i i-s" aria-hidden />
                {line}
              </li>
            ))}
          </ul>
        </div>
      </div>
      <div>
        <button type="button" className="btn primary" onClick={onAdd}>
          <Plus className="i i-s" aria-hidden />
          Add a model
        </button>
      </div>
    </section>
  );
}
