import { X } from "lucide-react";
import { Bar } from "../run/StepList";
import { bytes, plural } from "../shared/format";
import { type State, StateIcon, toneOf } from "../shared/Status";
import { useStore } from "../shared/store";
import { dismiss, type Upload, uploads } from "./upload";

const STATES: Record<Upload["state"], State> = { waiting: "idle", sending: "running", done: "ok", failed: "error" };

/** Running uploads, shown in every view. Failed ones stay until the user dismisses them. */
export function UploadTray() {
  const all = useStore(uploads);
  if (!all.length) return null;
  const under = all.filter((upload) => upload.state !== "failed");
  return (
    <section className="uploads float" aria-label="Files being added">
      <h2 className="caption dim">{under.length ? `Adding ${plural(under.length, "file")}` : "Not added"}</h2>
      <ul className="scroll">
        {all.map((upload) => (
          <UploadRow key={upload.id} upload={upload} />
        ))}
      </ul>
    </section>
  );
}

function UploadRow({ upload }: { upload: Upload }) {
  const { file, state, sent, problem, id } = upload;
  const over = state === "failed" || state === "done";
  return (
    <li>
      <span className={toneOf(STATES[state])}>
        <StateIcon state={STATES[state]} />
      </span>
      <span className="grow">
        <b className="clip">{file.name}</b>
        {state === "sending" && <Bar done={sent} total={file.size} />}
        <span className={`m ${problem ? "warn" : "num"}`}>{problem ?? progressText(upload)}</span>
      </span>
      {state !== "done" && (
        <button
          type="button"
          className="btn ghost icon small"
          aria-label={over ? `Close ${file.name}` : `Stop ${file.name}`}
          onClick={over ? () => dismiss(id) : upload.stop}
        >
          <X className="i i-s" aria-hidden />
        </button>
      )}
    </li>
  );
}

function progressText({ state, sent, file }: Upload): string {
  if (state === "waiting") return `${bytes(file.size)}, waits`;
  if (state === "done") return bytes(file.size);
  return sent < file.size ? `${bytes(sent)} of ${bytes(file.size)}` : "Reading the file";
}
