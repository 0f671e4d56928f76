import { Upload } from "lucide-react";
import { useRef } from "react";
import { path } from "../api/client";
import type { QuestionList } from "../api/types";
import { navigate } from "../app/router";
import { useFetched } from "../shared/fetched";
import { ProblemNotice } from "../shared/Notice";
import { addFiles } from "../sources/upload";

/** Shown before the first question: questions that the data can answer, and ways to add data. */
export function Welcome({ source, onAsk }: { source: string | null; onAsk: (question: string) => void }) {
  const { data, problem, reload } = useFetched<QuestionList>(source ? path`/sources/${source}/questions` : null);
  const files = useRef<HTMLInputElement>(null);
  return (
    <div className="welcome">
      <h2>What would you like to know?</h2>
      <p className="mid">
        Ask {source ? <b>{source}</b> : "your data"} in plain words, or add your own. Every answer comes with the plan,
        the code, the rows and the age of the data.
      </p>
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      <div className="sug">
        {data?.questions.map((question) => (
          <button key={question} type="button" className="chip" onClick={() => onAsk(question)}>
            {question}
          </button>
        ))}
        {source &&
          !data &&
          !problem &&
          [27, 20, 22, 26].map((width) => (
            <span key={width} className="chip skel" style={{ width: `${width}ch` }} aria-hidden />
          ))}
      </div>
      <div className="drop">
        <Upload className="i" aria-hidden />
        <span>
          Drop a file anywhere on the page,{" "}
          <button type="button" className="link" onClick={() => files.current?.click()}>
            choose one
          </button>
          , or{" "}
          <button type="button" className="link" onClick={() => navigate("/sources/+")}>
            connect a database
          </button>
        </span>
        <input
          ref={files}
          type="file"
          hidden
          multiple
          aria-label="Files to add"
          onChange={(event) => void addFiles([...(event.target.files ?? [])])}
        />
      </div>
    </div>
  );
}
