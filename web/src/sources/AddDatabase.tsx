import { ChevronLeft, CircleX, Database } from "lucide-react";
import { useState } from "react";
import { Problem } from "../api/client";
import { Link } from "../app/Link";
import { addDatabase } from "./upload";

/** A form that adds a database by its URL. Errors are shown at the field. */
export function AddDatabase() {
  const [url, setUrl] = useState("");
  const [name, setName] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);

  async function submit(event: React.FormEvent) {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await addDatabase(url.trim(), name.trim());
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <section className="pane" aria-label="Add a source">
      <div className="head">
        <Link className="btn ghost icon to-list" href="/sources" aria-label="Back to the sources">
          <ChevronLeft className="i" aria-hidden />
        </Link>
        <h2>Add a source</h2>
      </div>
      <form className="form" onSubmit={(event) => void submit(event)}>
        <p className="mid">
          Drop files or a folder anywhere on the page, or give the address of a PostgreSQL database. It is only ever
          read.
        </p>
        <label>
          <span className="label">Database address</span>
          <input
            className={`input ${problem ? "bad" : ""}`}
            autoFocus
            required
            placeholder="postgresql://reader@host/database"
            aria-invalid={problem !== null}
            aria-describedby={problem ? "address-wrong" : undefined}
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        </label>
        {problem && (
          <p className="err" id="address-wrong" role="alert">
            <CircleX className="i i-s" aria-hidden />
            <span>
              {problem.message} {problem.hint}
            </span>
          </p>
        )}
        <label>
          <span className="label">Name (optional)</span>
          <input className="input" placeholder="sales" value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <button type="submit" className="btn primary" disabled={busy || !url.trim()}>
          <Database className="i i-s" aria-hidden />
          {busy ? "Connecting …" : "Connect the database"}
        </button>
      </form>
    </section>
  );
}
