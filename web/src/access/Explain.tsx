import { useState } from "react";
import { query } from "../api/client";
import type { AccessExplanation, SourceList, UserList } from "../api/types";
import { Asked } from "../shared/Asked";
import { useFetched } from "../shared/fetched";
import { Status } from "../shared/Status";
import { Subject } from "../shared/Subject";

/** What somebody sees of a source, and which rules would shape an answer. */
export function Explain() {
  const users = useFetched<UserList>("/users").data?.users ?? [];
  const sources = useFetched<SourceList>("/sources").data?.sources ?? [];
  const [address, setAddress] = useState<string | null>(null);
  const explain = (event: React.FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const value = (name: string) => String(form.get(name) ?? "").trim();
    const asked = { user: value("user"), source: value("source"), question: value("question") };
    setAddress(`/access/explain${query(asked)}`);
  };
  return (
    <Subject title="What would somebody see?" about="By the rules that count now. A question is read, not answered.">
      <form className="box addm" aria-label="What would somebody see?" onSubmit={explain}>
        <div className="fields">
          <label>
            <span className="label">Person</span>
            <select className="input" name="user">
              {users.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label>
            <span className="label">Source</span>
            <select className="input" name="source">
              {sources.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label>
            <span className="label">Question, if one is meant</span>
            <input className="input" name="question" maxLength={2000} autoComplete="off" />
          </label>
        </div>
        <div className="row">
          <button type="submit" className="btn primary" disabled={!users.length || !sources.length}>
            Explain
          </button>
        </div>
      </form>
      {address && (
        <Asked key={address} address={address}>
          {(found: AccessExplanation) => <Explained found={found} />}
        </Asked>
      )}
    </Subject>
  );
}

function Explained({ found }: { found: AccessExplanation }) {
  return (
    <div className="box explained" role="status">
      <p className="box-line">
        <strong>{found.user}</strong>, {found.roles.join(", ") || "without a role"}, may:{" "}
        {found.actions.join(", ") || "nothing"}.{found.understood && <small>Understood as: {found.understood}</small>}
      </p>
      {found.tables.length > 0 && (
        <table className="data">
          <thead>
            <tr>
              <th>Table</th>
              <th>Columns</th>
              <th>Shaped by</th>
            </tr>
          </thead>
          <tbody>
            {found.tables.map(({ table, columns, shaped }) => (
              <tr key={table}>
                <td>{table}</td>
                <td className="wrap-cell">{columns.join(", ")}</td>
                <td className="wrap-cell">{shaped.join("; ") || <span className="dim">no rule: all of it</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {!found.tables.length && <p className="box-line">No table of {found.source} would be read.</p>}
      {found.hidden.map((hidden) => (
        <p key={hidden} className="box-line">
          <Status state="refused">Not seen: {hidden}</Status>
        </p>
      ))}
    </div>
  );
}
