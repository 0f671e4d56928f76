import { Copy } from "lucide-react";
import { useState } from "react";
import { toast } from "../shared/toasts";

export interface CommandField {
  name: string;
  label: string;
  example: string;
  optional?: boolean;
}

interface Props {
  why: string;
  fields: CommandField[];
  /** Tries it without adding it; null where the command that adds it is the only one. */
  test: ((values: Record<string, string>) => string) | null;
  add: (values: Record<string, string>) => string;
  afterwards: string;
}

/** What only whoever runs the server may add: a short form that writes the commands which test and add it. */
export function AddByCommand({ why, fields, test, add, afterwards }: Props) {
  const [typed, setTyped] = useState<Record<string, string>>({});
  const values = Object.fromEntries(
    fields.map(({ name, example, optional }) => [name, typed[name]?.trim() || (optional ? "" : example)]),
  );
  return (
    <div className="form">
      <p className="mid">{why}</p>
      {fields.map(({ name, label, example, optional }) => (
        <label key={name}>
          <span className="label">{optional ? `${label} (optional)` : label}</span>
          <input
            className="input"
            placeholder={example}
            value={typed[name] ?? ""}
            onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
          />
        </label>
      ))}
      {test && <CommandLine label="Test it: says what is wrong, and adds nothing" command={test(values)} />}
      <CommandLine label={test ? "Then add it" : "Add it: says what is wrong"} command={add(values)} />
      <p className="dim">{afterwards}</p>
    </div>
  );
}

function CommandLine({ label, command }: { label: string; command: string }) {
  return (
    <div className="add-line">
      <span className="label">{label}</span>
      <pre className="add-command mono" tabIndex={0}>
        {command}
      </pre>
      <button
        type="button"
        className="btn small"
        aria-label={`Copy: ${label}`}
        onClick={() => void navigator.clipboard.writeText(command).then(() => toast("Copied"))}
      >
        <Copy className="i i-s" aria-hidden />
        Copy
      </button>
    </div>
  );
}
