import { CircleX, Save } from "lucide-react";
import { Suspense, useState } from "react";
import { path, Problem } from "../api/client";
import type { SemanticDocument } from "../api/types";
import { toast } from "../app/toasts";
import { Code } from "../shared/Code";
import { useFetched } from "../shared/fetched";
import { later } from "../shared/later";
import { ProblemNotice } from "../shared/Notice";
import { SkeletonRows } from "../shared/Skeleton";
import { saveText } from "./semantic";

const Editor = later(() => import("../shared/Editor"));

/** The semantic file as it stands: names, synonyms, measures, relationships. What is wrong is said at its line. */
export function NamesTab({ source }: { source: string }) {
  const found = useFetched<SemanticDocument>(path`/sources/${source}/semantic`);
  if (found.problem && !found.data) return <ProblemNotice problem={found.problem} onRetry={found.reload} />;
  if (!found.data) return <SkeletonRows rows={10} columns={1} />;
  return <NamesEditor key={found.data.version} document={found.data} source={source} />;
}

function NamesEditor({ document, source }: { document: SemanticDocument; source: string }) {
  const [draft, setDraft] = useState(document.text);
  const [problem, setProblem] = useState<Problem | null>(() => (document.problem ? new Problem({ ...document.problem, detail: document.problem.message }) : null));
  const changed = draft !== document.text;

  async function keep() {
    try {
      await saveText(source, draft, document.version);
      setProblem(null);
      toast("Saved. Questions use the new names from now on.");
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    }
  }

  return (
    <div className="names scroll">
      <div className="row">
        <span className="mono dim grow clip">{document.file}</span>
        <button type="button" className="btn primary small" disabled={!changed} title={changed ? "Save" : "Nothing changed"} onClick={() => void keep()}>
          <Save className="i i-s" aria-hidden />
          Save
        </button>
      </div>
      {problem && (
        <p className="al2" role="alert">
          <CircleX className="i i-s" aria-hidden />
          <span>
            {problem.line !== null && <b>Line {problem.line}: </b>}
            {problem.message} {problem.hint}
          </span>
        </p>
      )}
      <Suspense fallback={<Code text={document.text} language="yaml" />}>
        <Editor text={document.text} language="yaml" label="Names, synonyms, measures and relationships" onChange={setDraft} onSubmit={() => void keep()} />
      </Suspense>
    </div>
  );
}
