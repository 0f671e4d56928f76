import { Suspense, useState } from "react";
import { api, Problem } from "../api/client";
import type { AccessReport, RulesState, RulesVersion } from "../api/types";
import { refresh } from "../shared/fetched";
import { plural } from "../shared/format";
import { later } from "../shared/later";
import { Notice, ProblemNotice } from "../shared/Notice";
import { SkeletonRows } from "../shared/Skeleton";
import { Status } from "../shared/Status";
import { toast } from "../shared/toasts";

const Editor = later(() => import("../shared/Editor"));

type Found = AccessReport | Problem | "busy" | null;

/** The rules as text. They are compared with the data before they are saved. */
export function RulesText({ base, onClose }: { base: RulesState; onClose: () => void }) {
  const [text, setText] = useState(base.text);
  const [found, setFound] = useState<Found>(null);
  const attempt = async (what: () => Promise<AccessReport | null>) => {
    setFound("busy");
    try {
      setFound(await what());
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setFound(error);
    }
  };
  const check = () => api.post<AccessReport>("/access/check", { text });
  const write = async () => {
    const saved = await api.put<RulesVersion>("/access/rules", { text, version: base.version });
    toast(`The rules are saved as version ${saved.version}`);
    for (const prefix of ["/access", "/users", "/groups", "/identity"]) refresh(prefix);
    onClose();
    return null;
  };
  const save = async () => {
    const report = await check();
    return report.problems.length ? report : write();
  };
  const isReport = found !== null && found !== "busy" && !(found instanceof Problem);
  const savable = isReport && found.problems.length > 0 && found.problems.every(({ rule }) => rule);
  return (
    <div className="rulestext">
      <Suspense fallback={<SkeletonRows rows={8} columns={1} />}>
        <Editor
          text={base.text}
          language="yaml"
          label="access.yaml"
          onChange={(now) => {
            setText(now);
            setFound(null);
          }}
          onSubmit={() => void attempt(save)}
        />
      </Suspense>
      <div role="status">
        {found instanceof Problem && <ProblemNotice problem={found} />}
        {isReport && <Report report={found} />}
      </div>
      <div className="row wrap">
        <button
          type="button"
          className="btn primary"
          disabled={found === "busy" || text === base.text}
          onClick={() => void attempt(save)}
        >
          Check and save
        </button>
        {savable && (
          <button type="button" className="btn" onClick={() => void attempt(write)}>
            Save all the same
          </button>
        )}
        <button type="button" className="btn" disabled={found === "busy"} onClick={() => void attempt(check)}>
          Check
        </button>
        <button type="button" className="btn ghost" onClick={onClose}>
          Cancel
        </button>
      </div>
    </div>
  );
}

function Report({ report: { problems, rules } }: { report: AccessReport }) {
  if (!problems.length) return <Status state="ok">{plural(rules, "rule")}, all fit the data</Status>;
  return (
    <Notice tone="warn" title="Not saved: something does not fit">
      <ul>
        {problems.map(({ rule, message, hint }, i) => (
          <li key={i}>
            {rule && <strong>{rule}: </strong>}
            {message} {hint}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
