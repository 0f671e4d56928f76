import { useState } from "react";
import { Problem } from "../api/client";
import type { Column } from "../api/types";
import { editNames, undoLast } from "../data/semantic";
import { toast } from "../shared/toasts";

const LONGEST = 200;

/** Edits the synonyms of a column in the semantic file. Questions then understand them. */
export function SynonymsCell({ source, table, column }: { source: string; table: string; column: Column }) {
  const [editing, setEditing] = useState(false);
  const [draft, setDraft] = useState("");
  const known = column.synonyms.join(", ");

  async function keep() {
    setEditing(false);
    const synonyms = [...new Set(draft.split(",").map((word) => word.trim()))].filter(Boolean);
    const names = synonyms.join(", ") || "nothing else";
    if (synonyms.join(", ") === known) return;
    if (synonyms.some((word) => word.length > LONGEST))
      return toast(`A name may have up to ${LONGEST} characters.`, { state: "error" });
    try {
      await editNames(
        source,
        { table, column: column.name, synonyms },
        `${table}.${column.name} is also called ${names}`.slice(0, 500),
      );
      toast(`${column.name} is also called ${names} now`, {
        action: { label: "Undo", run: () => void undoLast(source) },
      });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      toast([error.message, error.hint].filter(Boolean).join(" "), { state: "error" });
    }
  }

  if (!editing) {
    return (
      <button
        type="button"
        className={`clip edit ${known ? "" : "dim"}`}
        aria-label={`${known || "add names"}, names for ${column.name}`}
        title="Names that questions use for it"
        onClick={() => {
          setDraft(known);
          setEditing(true);
        }}
      >
        {known || "add names"}
      </button>
    );
  }
  return (
    <input
      className="input small"
      autoFocus
      aria-label={`Names for ${column.name}, separated by commas`}
      value={draft}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={() => void keep()}
      onKeyDown={(event) => {
        if (event.key === "Enter") event.currentTarget.blur();
        if (event.key === "Escape") setEditing(false);
      }}
    />
  );
}
