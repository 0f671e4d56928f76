import type { GroupList, RulesState } from "../api/types";
import { Asked } from "../shared/Asked";
import { Subject } from "../shared/Subject";

/** What each role allows, and the groups that a directory has sent. */
export function Groups() {
  return (
    <>
      <Subject title="Roles" about="Written in the access rules: change them there.">
        <Asked address="/access/rules">{({ roles }: RulesState) => <Roles roles={roles} />}</Asked>
      </Subject>
      <Subject title="Groups" about="Sent by your directory by SCIM, and changed there.">
        <Asked address="/groups">{({ groups }: GroupList) => <GroupTable groups={groups} />}</Asked>
      </Subject>
    </>
  );
}

function Roles({ roles }: { roles: RulesState["roles"] }) {
  return (
    <div className="box">
      <table className="data">
        <thead>
          <tr>
            <th>Role</th>
            <th>Allows</th>
            <th>For</th>
          </tr>
        </thead>
        <tbody>
          {roles.map(({ name, actions, description }) => (
            <tr key={name}>
              <td className="wrap-cell">{name}</td>
              <td className="wrap-cell">{actions.join(", ") || <span className="dim">nothing by itself</span>}</td>
              <td className="wrap-cell mid">{description}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function GroupTable({ groups }: GroupList) {
  if (!groups.length) return <p className="mid">No directory has sent a group.</p>;
  return (
    <div className="box">
      <table className="data">
        <thead>
          <tr>
            <th>Group</th>
            <th>Members</th>
            <th>Roles</th>
          </tr>
        </thead>
        <tbody>
          {groups.map(({ name, members, roles }) => (
            <tr key={name}>
              <td className="wrap-cell">{name}</td>
              <td className="wrap-cell">{members.join(", ") || <span className="dim">none</span>}</td>
              <td className="wrap-cell">{roles.join(", ") || <span className="dim">none</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
