import { Play } from "lucide-react";
import { Suspense, useState } from "react";
import { address, navigate, useRoute } from "../app/router";
import { ask, DRAFT } from "../ask/conversations";
import { Code } from "../shared/Code";
import { later } from "../shared/later";

const Editor = later(() => import("../shared/Editor"));

interface Props {
  code: string;
  language: string;
  source: string | null;
}

/** The code of a step, to change and run: it takes the same checks, limits and records as any other. */
export function RunEditor({ code, language, source }: Props) {
  const [draft, setDraft] = useState(code);
  const { view, parts } = useRoute();
  const run = () => {
    const message = `${language.toUpperCase()}: ${draft}`;
    const thread = view === "ask" ? (parts[0] ?? DRAFT) : DRAFT; // from the list of runs it begins a conversation
    void ask(thread, { message, sources: source ? [source] : [] }, (made) => navigate(address("ask", made)));
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
