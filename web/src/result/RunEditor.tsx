import { Play } from "lucide-react";
import { Suspense, useState } from "react";
import { ask, DRAFT } from "../run/conversations";
import { Code } from "../shared/Code";
import { later } from "../shared/later";
import { address, navigate, useRoute } from "../shared/router";

const Editor = later(() => import("../shared/Editor"));

interface Props {
  code: string;
  language: string;
  source: string | null;
}

/** An editor for the code of a step. The edited code runs as a new question, with the usual checks and limits. */
export function RunEditor({ code, language, source }: Props) {
  const [draft, setDraft] = useState(code);
  const { view, parts } = useRoute();
  const run = () => {
    const message = `${language.toUpperCase()}: ${draft}`;
    const thread = view === "ask" ? (parts[0] ?? DRAFT) : DRAFT; // in the view of runs there is no thread to continue
    void ask(thread, { message, sources: source ? [source] : [] }, (created) => navigate(address("ask", created)));
  };
  return (
    <>
      <Suspense fallback={<Code text={code} language={language} />}>
        <Editor text={code} language={language} label="Code of the step" onChange={setDraft} onSubmit={run} />
      </Suspense>
      <button type="button" className="btn small run-code" onClick={run}>
        <Play className="i i-s" aria-hidden />
        Run as written
      </button>
    </>
  );
}
