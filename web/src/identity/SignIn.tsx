import { CircleX } from "lucide-react";
import { useState } from "react";
import { api, Problem } from "../api/client";
import { type Door, enter, refusal } from "../api/door";
import type { IdentityState } from "../api/types";
import { useFetched } from "../shared/fetched";
import { Logo } from "../shared/Logo";

/** Signs in with name and password, or by a one-time link with a new password. */
export function SignIn({ door }: { door: Exclude<Door, { state: "open" }> }) {
  const [user, setUser] = useState("");
  const [password, setPassword] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const invited = door.state === "invited";
  const providers = useFetched<IdentityState>("/identity").data?.providers ?? [];
  const asksName = !invited || door.chooseName;

  async function submit(event: React.FormEvent) {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      if (invited) await api.post("/invitations/accept", { token: door.token, password, ...(asksName && { user }) });
      else await api.post("/sign-in", { user, password });
      enter();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
      setBusy(false);
    }
  }

  return (
    <main className="sign-in">
      <form className="form" onSubmit={(event) => void submit(event)}>
        <span className="brand">
          <Logo /> Answerable
        </span>
        <h1>{invited ? "Choose a password" : "Sign in"}</h1>
        {invited && (
          <p className="mid">At least 12 characters; a few unrelated words are good. This link works once.</p>
        )}
        {asksName && (
          <label>
            <span className="label">Name</span>
            <input
              className="input"
              name="user"
              autoFocus
              required
              autoComplete="username"
              value={user}
              onChange={(event) => setUser(event.target.value)}
            />
          </label>
        )}
        <label>
          <span className="label">Password</span>
          <input
            className="input"
            name="password"
            type="password"
            required
            autoFocus={!asksName}
            autoComplete={invited ? "new-password" : "current-password"}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </label>
        {!problem && door.state === "closed" && door.problem && (
          <p className="err" role="alert">
            <CircleX className="i i-s" aria-hidden />
            <span>{refusal(door.problem)}</span>
          </p>
        )}
        {problem && (
          <p className="err" role="alert">
            <CircleX className="i i-s" aria-hidden />
            <span>
              {problem.message} {problem.hint}
            </span>
          </p>
        )}
        <button type="submit" className="btn primary" disabled={busy}>
          {busy ? "Signing in …" : "Sign in"}
        </button>
        {!invited &&
          providers.map((provider) => (
            <a key={provider.name} className="btn" href={`/sign-in/${encodeURIComponent(provider.name)}`}>
              Sign in with {provider.label}
            </a>
          ))}
      </form>
    </main>
  );
}
