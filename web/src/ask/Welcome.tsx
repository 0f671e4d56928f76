import { Upload } from "lucide-react";
import { useRef } from "react";
import { api, path } from "../api/client";
import type { Catalog, SourceSummary } from "../api/types";
import { addFiles } from "../data/upload";
import { refresh, useFetched } from "../shared/fetched";
import { plural } from "../shared/format";
import { Link } from "../shared/Link";
import { Notice } from "../shared/Notice";
import { address, navigate } from "../shared/router";
import { Status } from "../shared/Status";
import { describeData } from "./describeData";
import { Suggestions, SuggestionsToCome } from "./Suggestions";

interface Props {
  /** The source that the next question goes to. */
  source: SourceSummary | null;
  broken: SourceSummary[];
  onAsk: (question: string) => void;
}

/** Shown before the first question: what the data is, questions that it can answer, and ways to add data. */
export function Welcome({ source, broken, onAsk }: Props) {
  const ready = source !== null && source.state !== "reading" && source.state !== "failed";
  return (
    <div className="welcome">
      <h2>What would you like to know?</h2>
      <p className="mid">Ask in plain words. Every answer comes with its rows, its code and the age of the data.</p>
      {source && <SourceState source={source} />}
      {ready && <Suggestions source={source.name} onAsk={onAsk} />}
      {source?.state === "reading" && <SuggestionsToCome />}
      {broken.map((each) => (
        <BrokenSource key={each.name} source={each} />
      ))}
      <AddData />
    </div>
  );
}

function SourceState({ source }: { source: SourceSummary }) {
  if (source.state === "reading")
    return (
      <p className="reading">
        <Status state="running">
          {source.name} is being read{source.progress ? `: ${source.progress.message}` : ""}. You can write your
          question.
        </Status>
      </p>
    );
  return source.state === "ready" ? <WhatItHolds source={source.name} /> : null;
}

/** What the data is, in one sentence, and what was left out or assumed while it was read. */
function WhatItHolds({ source }: { source: string }) {
  const { data } = useFetched<Catalog>(path`/datasets/${source}/schema`);
  const left = data?.warnings ?? [];
  return (
    <>
      <p className="reading">
        <Status state="ok">{source} is ready</Status>
        <span className="holds mid">{data ? describeData(data) : ""}</span>
      </p>
      {left.length > 0 && (
        <p className="caption dim">
          {left[0]?.subject}: {left[0]?.message}{" "}
          <Link className="link" href={address("sources", source)}>
            {left.length > 1 ? `and ${plural(left.length - 1, "more note")}` : "Look at the source"}
          </Link>
        </p>
      )}
    </>
  );
}

/** A source that could not be read, with the reason and ways to mend it. */
function BrokenSource({ source }: { source: SourceSummary }) {
  const again = async () => {
    await api.post(path`/sources/${source.name}/sync`);
    refresh("/sources");
  };
  const actions = (
    <>
      <button type="button" className="btn small" onClick={() => void again()}>
        Read it again
      </button>
      <Link className="btn ghost small" href={address("sources", source.name)}>
        Look at the source
      </Link>
    </>
  );
  return (
    <Notice tone="warn" title={`${source.name} could not be read`} actions={actions}>
      {source.error && <p>{[source.error.message, source.error.hint].filter(Boolean).join(" ")}</p>}
    </Notice>
  );
}

function AddData() {
  const files = useRef<HTMLInputElement>(null);
  return (
    <div className="drop">
      <Upload className="i" aria-hidden />
      <span>
        Drop a file anywhere on the page,{" "}
        <button type="button" className="link" onClick={() => files.current?.click()}>
          choose one
        </button>
        , or{" "}
        <button type="button" className="link" onClick={() => navigate("/sources/+")}>
          add a database, an API, Okta or a graph
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
  );
}
