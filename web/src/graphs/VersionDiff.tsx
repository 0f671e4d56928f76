import { X } from "lucide-react";
import { Suspense, useEffect, useMemo, useState } from "react";
import { api, Problem, path } from "../api/client";
import type { GraphDifference, GraphDocument, GraphReport } from "../api/types";
import { Difference } from "../shared/Difference";
import { refresh, useFetched } from "../shared/fetched";
import { later } from "../shared/later";
import { ProblemNotice } from "../shared/Notice";
import { toast } from "../shared/toasts";
import { comparedNodes } from "./comparedNodes";

const Canvas = later(() => import("./Canvas"));

interface Props {
  name: string;
  version: number;
  /** The nodes that count now. */
  nodes: GraphReport["nodes"];
  onClose: () => void;
}

/** What is different between a version and the one that counts: in the picture, by node and by line. */
export function VersionDiff({ name, version, nodes: now, onClose }: Props) {
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
  const before = useNodesOf(name, version);
  const drawn = useMemo(() => before && data && comparedNodes(before, now, data), [before, now, data]);
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
      {drawn && (
        <Suspense>
          <Canvas nodes={drawn[0]} marks={drawn[1]} states={NO_STATES} selected={null} onSelect={() => undefined} />
        </Suspense>
      )}
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

const NO_STATES = {};

/** The nodes of an earlier version, with what they come after by reference too. Null while they are not known, or if
 * the version does not fit any more: an agent or an API that it names may be gone. */
function useNodesOf(name: string, version: number): GraphReport["nodes"] | null {
  const { data } = useFetched<GraphDocument>(`${path`/graphs/${name}`}?version=${version}`);
  const [nodes, setNodes] = useState<GraphReport["nodes"] | null>(null);
  const text = data?.text;
  useEffect(() => {
    let current = true;
    setNodes(null);
    if (text === undefined) return;
    api.post<GraphReport>("/graphs/validate", { text }).then(
      (found) => current && setNodes(found.nodes),
      (error: unknown) => {
        if (!(error instanceof Problem)) throw error;
      },
    );
    return () => {
      current = false;
    };
  }, [text]);
  return nodes;
}

/** The lines of a unified diff with their signs. */
function linesOf(text: string): [string, string][] {
  return text
    .split("\n")
    .filter((line) => line && !line.startsWith("---") && !line.startsWith("+++"))
    .map((line) => (line.startsWith("@@") ? ["…", ""] : [line[0] ?? " ", line.slice(1)]));
}
