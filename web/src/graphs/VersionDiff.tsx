import { X } from "lucide-react";
import { api, Problem, path } from "../api/client";
import type { GraphDifference } from "../api/types";
import { toast } from "../app/toasts";
import { Difference } from "../shared/Difference";
import { refresh, useFetched } from "../shared/fetched";
import { ProblemNotice } from "../shared/Notice";

/** What is different between a version and the one that counts. */
export function VersionDiff({ name, version, onClose }: { name: string; version: number; onClose: () => void }) {
  const { data, problem } = useFetched<GraphDifference>(`${path`/graphs/${name}/diff`}?before=${version}`);
  const back = async () => {
    try {
      await api.post(path`/graphs/${name}/rollback`, { version });
      toast(`v${version} counts again, as a new version`);
      refresh("/graphs");
      onClose();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      toast(error.message, { state: "error" });
    }
  };
  const nodes: [string, readonly string[]][] = [
    ["Added", data?.added ?? []],
    ["Removed", data?.removed ?? []],
    ["Changed", [...(data?.changed ?? []), ...(data?.settings ?? [])]],
  ];
  return (
    <div className="scroll gdiff" tabIndex={0}>
      <div className="row">
        <h3 className="grow">v{version} compared with the version that counts</h3>
        <button type="button" className="btn small" onClick={() => void back()}>
          Make v{version} count again
        </button>
        <button type="button" className="btn ghost icon small" aria-label="Close the comparison" onClick={onClose}>
          <X className="i i-s" aria-hidden />
        </button>
      </div>
      {problem && <ProblemNotice problem={problem} />}
      {nodes.map(
        ([word, names]) =>
          names.length > 0 && (
            <p key={word} className="mid">
              {word}: <span className="mono">{names.join(", ")}</span>
            </p>
          ),
      )}
      {data && <Difference label="Differences by line" lines={linesOf(data.text)} />}
    </div>
  );
}

/** The lines of a unified diff with their signs. */
function linesOf(text: string): [string, string][] {
  return text
    .split("\n")
    .filter((line) => line && !line.startsWith("---") && !line.startsWith("+++"))
    .map((line) => (line.startsWith("@@") ? ["…", ""] : [line[0] ?? " ", line.slice(1)]));
}
