import { CircleX, Save } from "lucide-react";
import { Suspense, useState } from "react";
import { Problem, path } from "../api/client";
import type { SemanticDocument } from "../api/types";
import { overwrite, saveText } from "../data/semantic";
import { Code } from "../shared/Code";
import { useFetched } from "../shared/fetched";
import { later } from "../shared/later";
import { ProblemNotice } from "../shared/Notice";
import { SkeletonRows } from "../shared/Skeleton";
import { toast } from "../shared/toasts";

const NOTE = "The text was edited";
const CHANGED = "semantic_changed";

const Editor = later(() => import("../shared/Editor"));

/** Edits the semantic file: names, synonyms, measures, relationships. Errors are shown at their line. */
export function NamesTab({ source }: { source: string }) {
  const found = useFetched<SemanticDocument>(path`/sources/${source}/semantic`);
  const [edited, setEdited] = useState<SemanticDocument | null>(null);
  const document = edited ?? found.data;
  if (found.problem && !document) return <ProblemNotice problem={found.problem} onRetry={found.reload} />;
  if (!document) return <SkeletonRows rows={10} columns={1} />;
  const onEdited = (changed: boolean) => {
    setEdited(changed ? document : null);
    if (!changed) found.reload();
  };
  return <NamesEditor key={document.version} document={document} source={source} onEdited={onEdited} />;
}

interface EditorProps {
  document: SemanticDocument;
  source: string;
  /** The user's draft. It is not replaced when somebody else saves a change. */
  onEdited: (changed: boolean) => void;
}

function NamesEditor({ document, source, onEdited }: EditorProps) {
  const [draft, setDraft] = useState(document.text);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(() =>
    document.problem ? new Problem({ ...document.problem, detail: document.problem.message }) : null,
  );
  const changed = draft !== document.text;
  const change = (text: string) => {
    setDraft(text);
    onEdited(text !== document.text);
  };

  async function keep(save: () => Promise<void>) {
    setBusy(true);
    try {
      await save();
      setProblem(null);
      onEdited(false);
      toast("Saved. Questions use the new names from now on.");
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    } finally {
      setBusy(false);
    }
  }

  const submit = () => keep(() => saveText(source, draft, document.version, NOTE));
  return (
    <div className="names scroll">
      <div className="row">
        <span className="mono dim grow clip">{document.file}</span>
        <button
          type="button"
          className="btn primary small"
          disabled={!changed || busy}
          title={changed ? "Save" : "Nothing changed"}
          onClick={() => void submit()}
        >
          <Save className="i i-s" aria-hidden />
          {busy ? "Saving …" : "Save"}
        </button>
      </div>
      {problem && (
        <div className="al2" role="alert">
          <CircleX className="i i-s" aria-hidden />
          <span className="grow">
            {problem.message} {problem.code === CHANGED ? "What you wrote is still here." : problem.hint}
          </span>
          {problem.code === CHANGED && (
            <>
              <button type="button" className="btn small" disabled={busy} onClick={() => onEdited(false)}>
                Show theirs
              </button>
              <button
                type="button"
                className="btn small"
                disabled={busy}
                onClick={() => void keep(() => overwrite(source, draft, NOTE))}
              >
                Save mine
              </button>
            </>
          )}
        </div>
      )}
      <Suspense fallback={<Code text={document.text} language="yaml" />}>
        <Editor
          text={document.text}
          language="yaml"
          label="Names, synonyms, measures and relationships"
          onChange={change}
          onSubmit={() => void submit()}
        />
      </Suspense>
    </div>
  );
}
