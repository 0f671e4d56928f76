import { GitFork, Pencil } from "lucide-react";
import { useState } from "react";

interface Props {
  text: string;
  editing: boolean;
  canFork: boolean;
  onEdit: (editing: boolean) => void;
  onAskAgain: (text: string) => void;
  onFork: () => void;
}

/** The question, with buttons to edit and ask it again, and to fork the thread from it. */
export function Question({ text, editing, canFork, onEdit, onAskAgain, onFork }: Props) {
  if (editing) return <Editor text={text} onDone={onAskAgain} onCancel={() => onEdit(false)} />;
  return (
    <div className="q">
      <h2>{text}</h2>
      {canFork && (
        <span className="acts">
          <button
            type="button"
            className="btn ghost icon small"
            aria-label="Edit and ask again"
            title="Edit and ask again"
            onClick={() => onEdit(true)}
          >
            <Pencil className="i i-s" aria-hidden />
          </button>
          <button
            type="button"
            className="btn ghost icon small"
            aria-label="Fork from here"
            title="Fork from here"
            onClick={onFork}
          >
            <GitFork className="i i-s" aria-hidden />
          </button>
        </span>
      )}
    </div>
  );
}

function Editor({ text, onDone, onCancel }: { text: string; onDone: (text: string) => void; onCancel: () => void }) {
  const [draft, setDraft] = useState(text);
  const ready = draft.trim() !== "";
  return (
    <form
      className="q-edit"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) onDone(draft.trim());
      }}
    >
      <textarea
        autoFocus
        aria-label="Edit the question"
        rows={Math.min(8, draft.split("\n").length + 1)}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      <div className="row">
        <button type="submit" className="btn primary small" disabled={!ready}>
          Ask again
        </button>
        <button type="button" className="btn ghost small" onClick={onCancel}>
          Keep as it was
        </button>
        <span className="caption dim">The thread so far stays as it is; this begins a copy.</span>
      </div>
    </form>
  );
}
