import { api, path } from "../api/client";
import { enter } from "../api/door";
import type { IdentityState, Profile, SessionList } from "../api/types";
import { refresh, useFetched } from "../shared/fetched";
import { Keys } from "./Keys";

/** Who is signed in, and where. Shows nothing where nobody signs in. */
export function Account() {
  const profile = useFetched<IdentityState>("/identity").data?.profile;
  return profile ? (
    <>
      <SignedIn profile={profile} />
      <Keys actions={profile.actions} />
    </>
  ) : null;
}

function SignedIn({ profile }: { profile: Profile }) {
  const sessions = useFetched<SessionList>("/sessions").data?.sessions ?? [];
  return (
    <section aria-label="Your account">
      <h2>Your account</h2>
      <p className="mid">
        Signed in as <strong>{profile.user}</strong>. Roles: {profile.roles.join(", ") || "none"}. You may:{" "}
        {profile.actions.join(", ") || "nothing"}.
      </p>
      <table className="data">
        <thead>
          <tr>
            <th>Session</th>
            <th>Since</th>
            <th>Last used</th>
            <th>
              <span className="vh">End it</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <tr key={session.session_id}>
              <td className="wrap-cell">{session.current ? "This browser" : session.client || "Unknown"}</td>
              <td>{new Date(session.created_at).toLocaleString()}</td>
              <td>{new Date(session.used_at).toLocaleString()}</td>
              <td>
                {!session.current && (
                  <button type="button" className="btn small" onClick={() => void end(session.session_id)}>
                    End
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="row acts">
        <button type="button" className="btn" onClick={() => void leave(() => api.post("/sign-out"))}>
          Sign out
        </button>
        <button type="button" className="btn" onClick={() => void leave(() => api.remove("/sessions"))}>
          Sign out everywhere
        </button>
      </div>
    </section>
  );
}

async function end(session: string): Promise<void> {
  await api.remove(path`/sessions/${session}`);
  refresh("/sessions");
}

async function leave(how: () => Promise<unknown>): Promise<void> {
  await how();
  enter();
}
