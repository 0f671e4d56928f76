import { useState } from "react";
import { api, type Problem, path } from "../api/client";
import type { Invitation, RulesState, UserList, UserView } from "../api/types";
import { Asked } from "../shared/Asked";
import { problemOf } from "../shared/change";
import { useFetched } from "../shared/fetched";
import { moment } from "../shared/format";
import { Status } from "../shared/Status";
import { Subject } from "../shared/Subject";
import { tell, toast } from "../shared/toasts";
import { written } from "./attributes";
import { invitationLink, userState } from "./describe";
import { type UserFields, UserForm } from "./UserForm";

/** Who may come in, and as what. */
export function Users() {
  return <Asked address="/users">{({ users }: UserList) => <UserTable users={users} />}</Asked>;
}

function UserTable({ users }: { users: UserView[] }) {
  const roles = useFetched<RulesState>("/access/rules").data?.roles.map(({ name }) => name) ?? [];
  const [open, setOpen] = useState<UserView | "new" | null>(null);
  const [invitation, setInvitation] = useState<Invitation | null>(null);
  const invite = async (request: Promise<Invitation>) => {
    setInvitation(null);
    const problem = await problemOf(request.then(setInvitation), "/users");
    if (!problem) setOpen(null);
    return problem;
  };
  return (
    <Subject title="Who may come in" about="A new person chooses a password by a link that works once.">
      {invitation && <Link invitation={invitation} />}
      <div className="box">
        {open === "new" ? (
          <UserForm
            label="Add a person"
            roles={roles}
            submit="Add and make a link"
            onSubmit={(fields) => invite(api.post<Invitation>("/users", fields))}
            onCancel={() => setOpen(null)}
          />
        ) : (
          <p className="box-line">
            <button type="button" className="btn primary" onClick={() => setOpen("new")}>
              Add a person
            </button>
          </p>
        )}
        <table className="data people">
          <thead>
            <tr>
              <th>Name</th>
              <th>Roles</th>
              <th>Attributes</th>
              <th>State</th>
              <th>
                <span className="vh">Change</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {users.map((user) => (
              <UserRow key={user.name} user={user} onOpen={() => setOpen(user)} />
            ))}
          </tbody>
        </table>
      </div>
      {open && open !== "new" && (
        <Change
          key={open.name}
          user={users.find(({ name }) => name === open.name) ?? open}
          roles={roles}
          onLink={() => invite(api.post<Invitation>(path`/users/${open.name}/invitation`))}
          onClose={() => setOpen(null)}
        />
      )}
    </Subject>
  );
}

function UserRow({ user, onOpen }: { user: UserView; onOpen: () => void }) {
  const [state, word] = userState(user);
  return (
    <tr>
      <td className="wrap-cell">{user.name}</td>
      <td className="wrap-cell">{user.roles.join(", ") || <span className="dim">none</span>}</td>
      <td className="wrap-cell mid">{written(user.attributes)}</td>
      <td>
        <Status state={state}>{word}</Status>
      </td>
      <td className="r">
        <button type="button" className="btn small" aria-label={`Change ${user.name}`} onClick={onOpen}>
          Change
        </button>
      </td>
    </tr>
  );
}

function Link({ invitation }: { invitation: Invitation }) {
  return (
    <p role="status" className="box box-line wrap-cell">
      Send this link to <strong>{invitation.user}</strong>. It works once, until {moment(invitation.expires_at)}, and is
      not shown again: <code className="invitation">{invitationLink(location.origin, invitation.token)}</code>
    </p>
  );
}

interface ChangeProps {
  user: UserView;
  roles: string[];
  onLink: () => Promise<Problem | null>;
  onClose: () => void;
}

function Change({ user, roles, onLink, onClose }: ChangeProps) {
  const at = path`/users/${user.name}`;
  const save = async (fields: UserFields) => {
    const problem = await problemOf(api.patch(at, changedOnly(user, fields)), "/users");
    if (!problem) onClose();
    return problem;
  };
  const press = async (change: Promise<unknown>, done: string) => {
    const problem = await problemOf(change, "/users");
    if (problem) tell(problem);
    else toast(done);
  };
  return (
    <section className="box" aria-label={`About ${user.name}`}>
      <div className="box-line about-user">
        <h4>{user.name}</h4>
        <button
          type="button"
          className="btn"
          onClick={() =>
            void press(
              api.patch(at, { disabled: !user.disabled }),
              user.disabled ? `${user.name} may come in again` : `${user.name} is kept out`,
            )
          }
        >
          {user.disabled ? "Let in again" : "Keep out"}
        </button>
        <button
          type="button"
          className="btn"
          onClick={() => void press(api.remove(`${at}/sessions`), `${user.name} is signed out everywhere`)}
        >
          End all sessions
        </button>
        {user.origin === "local" && (
          <button
            type="button"
            className="btn"
            onClick={() => void onLink().then((problem) => problem && tell(problem))}
          >
            New password link
          </button>
        )}
      </div>
      {user.in_file && (
        <p className="box-line mid">
          access.yaml names this person too: what it gives can only be taken away in the rules.
        </p>
      )}
      <UserForm
        label={`Change ${user.name}`}
        known={user}
        roles={roles}
        submit="Save"
        onSubmit={save}
        onCancel={onClose}
      />
    </section>
  );
}

/** Only what was changed: what the rules or a directory give is not written down a second time. */
function changedOnly(user: UserView, { roles, attributes }: UserFields) {
  return {
    ...([...roles].sort().join() !== [...user.roles].sort().join() && { roles }),
    ...(written(attributes) !== written(user.attributes) && { attributes }),
  };
}
