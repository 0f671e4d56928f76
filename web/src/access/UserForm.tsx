import { useState } from "react";
import type { Problem } from "../api/client";
import { type Attributes, isUnread, readAttributes, written } from "./attributes";

export interface UserFields {
  name: string;
  roles: string[];
  attributes: Attributes;
}

interface Props {
  label: string;
  /** What is known of the person. Without, a new one is described, and has to be named. */
  known?: UserFields;
  roles: string[];
  submit: string;
  onSubmit: (fields: UserFields) => Promise<Problem | null>;
  onCancel: () => void;
}

/** Name, roles and attributes of a person. */
export function UserForm({ label, known, roles, submit, onSubmit, onCancel }: Props) {
  const [name, setName] = useState(known?.name ?? "");
  const [chosen, setChosen] = useState<string[]>(known?.roles ?? []);
  const [text, setText] = useState(written(known?.attributes ?? {}));
  const [wrong, setWrong] = useState("");
  const send = async (event: React.FormEvent) => {
    event.preventDefault();
    const attributes = readAttributes(text);
    if (isUnread(attributes)) return setWrong(`“${attributes.unread}” is no attribute. Write one as “city: Bergen”.`);
    const problem = await onSubmit({ name: name.trim(), roles: chosen, attributes });
    setWrong(problem ? [problem.message, problem.hint].filter(Boolean).join(" ") : "");
  };
  return (
    <form className="addm" aria-label={label} onSubmit={(event) => void send(event)}>
      <div className="userfields">
        {!known && (
          <label>
            <span className="label">Name</span>
            <input
              className="input"
              name="new-user"
              required
              maxLength={200}
              autoComplete="off"
              spellCheck={false}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </label>
        )}
        <fieldset>
          <legend className="label">Roles</legend>
          <RoleBoxes roles={[...new Set([...roles, ...chosen])]} chosen={chosen} onChange={setChosen} />
        </fieldset>
        <label>
          <span className="label">Attributes, one in a line</span>
          <textarea
            className="input mono"
            name="attributes"
            rows={3}
            spellCheck={false}
            placeholder="city: Bergen, Oslo"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <span className="hintline">Rules about rows compare them with the data.</span>
        </label>
      </div>
      {wrong && (
        <p className="err" role="alert">
          {wrong}
        </p>
      )}
      <div className="row">
        <button type="submit" className="btn primary">
          {submit}
        </button>
        <button type="button" className="btn ghost" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function RoleBoxes(props: { roles: string[]; chosen: string[]; onChange: (roles: string[]) => void }) {
  const { roles, chosen, onChange } = props;
  return (
    <div className="roleboxes">
      {roles.map((role) => (
        <label key={role} className="tick">
          <input
            type="checkbox"
            checked={chosen.includes(role)}
            onChange={(event) =>
              onChange(event.target.checked ? [...chosen, role] : chosen.filter((each) => each !== role))
            }
          />
          {role}
        </label>
      ))}
    </div>
  );
}
