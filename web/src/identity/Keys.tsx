import { useState } from "react";
import { api, Problem, path } from "../api/client";
import type { KeyList, NewKey } from "../api/types";
import { refresh, useFetched } from "../shared/fetched";

/** The keys with which one's own programs ask. A new one is shown once. `actions`: what a key can be allowed. */
export function Keys({ actions }: { actions: string[] }) {
  const keys = useFetched<KeyList>("/keys").data?.keys.filter((key) => key.counts) ?? [];
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<string[]>(actions.includes("ask") ? ["ask"] : []);
  const [made, setMade] = useState<NewKey | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);

  async function make(event: React.FormEvent) {
    event.preventDefault();
    setProblem(null);
    try {
      setMade(await api.post<NewKey>("/keys", { name, scopes }));
      setName("");
      refresh("/keys");
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    }
  }

  return (
    <section aria-label="Your keys">
      <h2>Your keys</h2>
      <p className="mid">A program that sends one asks as you, within what the key allows.</p>
      {keys.length > 0 && (
        <table className="data">
          <thead>
            <tr>
              <th>Key</th>
              <th>Allows</th>
              <th>Until</th>
              <th>Last used</th>
              <th>
                <span className="vh">Revoke it</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key.key_id}>
                <td className="wrap-cell">{key.name}</td>
                <td>{key.scopes.join(", ")}</td>
                <td>{new Date(key.expires_at).toLocaleDateString()}</td>
                <td>{key.used_at ? new Date(key.used_at).toLocaleString() : "Never"}</td>
                <td>
                  <button type="button" className="btn small" onClick={() => void revoke(key.key_id)}>
                    Revoke
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {made && (
        <p role="status">
          The key <strong>{made.view.name}</strong>, shown this once: <code>{made.key}</code>
        </p>
      )}
      <form className="row acts" onSubmit={(event) => void make(event)}>
        <label>
          <span className="label">What is it for?</span>
          <input
            className="input"
            name="key-name"
            required
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        {actions.map((action) => (
          <label key={action}>
            <input
              type="checkbox"
              checked={scopes.includes(action)}
              onChange={(event) =>
                setScopes(event.target.checked ? [...scopes, action] : scopes.filter((each) => each !== action))
              }
            />{" "}
            {action}
          </label>
        ))}
        <button type="submit" className="btn" disabled={scopes.length === 0}>
          Make a key
        </button>
      </form>
      {problem && (
        <p className="err" role="alert">
          {problem.message} {problem.hint}
        </p>
      )}
    </section>
  );
}

async function revoke(key: string): Promise<void> {
  await api.remove(path`/keys/${key}`);
  refresh("/keys");
}
