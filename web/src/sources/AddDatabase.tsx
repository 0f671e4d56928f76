import { CircleX, Database, PlugZap } from "lucide-react";
import { useState } from "react";
import { api, Problem } from "../api/client";
import type { SourceTest } from "../api/types";
import { addDatabase } from "../data/upload";
import { count, plural } from "../shared/format";
import { Status } from "../shared/Status";
import { type Field, fieldAtFault, withPassword } from "./databaseAddress";

interface Wrong {
  field: Field;
  text: string;
}

/** A form that tests a database and then adds it. A problem is shown at the field that it is about. */
export function AddDatabase() {
  const [address, setAddress] = useState("");
  const [password, setPassword] = useState("");
  const [name, setName] = useState("");
  const [busy, setBusy] = useState<"test" | "add" | null>(null);
  const [wrong, setWrong] = useState<Wrong | null>(null);
  const [passed, setPassed] = useState<SourceTest | null>(null);

  function typed(set: (value: string) => void) {
    return (event: React.ChangeEvent<HTMLInputElement>) => {
      set(event.target.value);
      setPassed(null);
    };
  }

  async function send(step: "test" | "add") {
    const url = withPassword(address.trim(), password);
    if (url === null)
      return setWrong({ field: "address", text: "Name the user of the password: postgresql://user@host." });
    setBusy(step);
    setWrong(null);
    try {
      if (step === "add") return await addDatabase(url, name.trim());
      const test = await api.post<SourceTest>("/sources/test", { url, ...(name.trim() && { name: name.trim() }) });
      if (test.problem) setWrong({ field: fieldAtFault(test.problem.code), text: sentence(test.problem) });
      else setPassed(test);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setWrong({ field: fieldAtFault(error.code), text: sentence(error) });
    } finally {
      setBusy(null);
    }
  }

  const field = (which: Field) => ({
    className: `input ${wrong?.field === which ? "bad" : ""}`,
    "aria-invalid": wrong?.field === which,
    "aria-describedby": wrong?.field === which ? "database-wrong" : undefined,
  });
  const complaint = (which: Field) => wrong?.field === which && <Complaint text={wrong.text} />;
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void send(passed ? "add" : "test");
      }}
    >
      <p className="mid">The address of a PostgreSQL database. It is only ever read.</p>
      <label>
        <span className="label">Database address</span>
        <input
          {...field("address")}
          autoFocus
          required
          placeholder="postgresql://reader@host:5432/database"
          value={address}
          onChange={typed(setAddress)}
        />
      </label>
      {complaint("address")}
      <label>
        <span className="label">Password (optional)</span>
        <input
          {...field("password")}
          type="password"
          autoComplete="off"
          value={password}
          onChange={typed(setPassword)}
        />
      </label>
      {complaint("password")}
      <label>
        <span className="label">Name here (optional)</span>
        <input {...field("name")} placeholder="sales" value={name} onChange={typed(setName)} />
      </label>
      {complaint("name")}
      {passed && (
        <p role="status">
          <Status state="ok">
            {passed.name} can be added: {plural(passed.tables ?? 0, "table")}
            {passed.rows ? `, ${count(passed.rows)} rows` : ""}
          </Status>
        </p>
      )}
      <div className="row">
        <button
          type={passed ? "button" : "submit"}
          className={`btn ${passed ? "" : "primary"}`}
          disabled={busy !== null || !address.trim()}
          onClick={passed ? () => void send("test") : undefined}
        >
          <PlugZap className="i i-s" aria-hidden />
          {busy === "test" ? "Testing …" : passed || wrong ? "Test again" : "Test"}
        </button>
        <button
          type={passed ? "submit" : "button"}
          className={`btn ${passed ? "primary" : ""}`}
          disabled={busy !== null || !passed}
          title={passed ? undefined : "A test has to pass first"}
        >
          <Database className="i i-s" aria-hidden />
          {busy === "add" ? "Adding …" : passed ? `Add ${passed.name}` : "Add"}
        </button>
      </div>
      <p className="dim caption">
        A test reads the tables and adds nothing. The password stays on the server and is never shown.
      </p>
    </form>
  );
}

function sentence({ message, hint }: { message: string; hint: string | null }): string {
  return [message, hint].filter(Boolean).join(" ");
}

function Complaint({ text }: { text: string }) {
  return (
    <p className="err" id="database-wrong" role="alert">
      <CircleX className="i i-s" aria-hidden />
      <span>{text}</span>
    </p>
  );
}
