import { Undo2 } from "lucide-react";
import { useState } from "react";
import { api } from "../api/client";
import type { RulesDiff, RulesVersions as Versions } from "../api/types";
import { Asked } from "../shared/Asked";
import { problemOf } from "../shared/change";
import { Difference } from "../shared/Difference";
import { diffLines } from "../shared/diffLines";
import { moment } from "../shared/format";
import { Subject } from "../shared/Subject";
import { tell, toast } from "../shared/toasts";

/** Who changed the rules when; what is different now, and the way back. */
export function RulesVersions() {
  const [compared, setCompared] = useState<number | null>(null);
  return (
    <Subject title="Versions" about="To bring one back makes a new version: nothing is lost.">
      <Asked address="/access/versions">
        {({ versions }: Versions) => (
          <ol className="box versions">
            {versions.map(({ version, at, user, note }, i) => (
              <li key={version}>
                <span className="grow">
                  <b>Version {version}</b> {i === 0 && <span className="dim">counts now</span>}
                  <small>
                    {moment(at)}, {user ?? "edited as a file"}. {note}
                  </small>
                </span>
                {i > 0 && (
                  <>
                    <button
                      type="button"
                      className="btn small"
                      aria-expanded={compared === version}
                      onClick={() => setCompared(compared === version ? null : version)}
                    >
                      Compare
                    </button>
                    <button type="button" className="btn small" onClick={() => void bringBack(version)}>
                      <Undo2 className="i i-s" aria-hidden />
                      Bring back
                    </button>
                  </>
                )}
                {compared === version && i > 0 && <Since version={version} />}
              </li>
            ))}
          </ol>
        )}
      </Asked>
    </Subject>
  );
}

function Since({ version }: { version: number }) {
  return (
    <Asked address={`/access/diff?version=${version}`}>
      {({ diff }: RulesDiff) =>
        diff ? (
          <Difference label={`What has changed since version ${version}`} lines={diffLines(diff)} />
        ) : (
          <p className="mid">The same as the rules that count now.</p>
        )
      }
    </Asked>
  );
}

async function bringBack(version: number): Promise<void> {
  const undone = api.post(`/access/undo?version=${version}`);
  const problem = await problemOf(undone, "/access", "/users", "/groups", "/identity");
  if (problem) tell(problem);
  else toast(`The rules of version ${version} count again`);
}
