import type { OktaSync } from "../api/types";
import { duration, moment } from "../shared/format";
import { type State, Status } from "../shared/Status";
import { found } from "./syncWords";

const MOST = 50;

const STATES: Record<string, [State, string]> = {
  complete: ["ok", "Complete"],
  running: ["running", "Running"],
};

function stateOf({ status, error }: OktaSync): [State, string] {
  return error ? ["error", "Failed"] : (STATES[status] ?? ["idle", status]);
}

/** The syncs of a tenant, the newest first. */
export function TenantHistory({ syncs }: { syncs: OktaSync[] }) {
  if (!syncs.length) return <p className="dim">There was no sync yet.</p>;
  return (
    <div className="t-history" tabIndex={0} role="region" aria-label="History of syncs">
      <table className="data">
        <thead>
          <tr>
            <th scope="col">Started</th>
            <th scope="col">Kind</th>
            <th scope="col">Result</th>
            <th scope="col" className="r">
              Time
            </th>
            <th scope="col">What happened</th>
          </tr>
        </thead>
        <tbody>
          {syncs
            .slice(-MOST)
            .reverse()
            .map((sync) => {
              const [state, word] = stateOf(sync);
              return (
                <tr key={sync.started}>
                  <td className="num">{moment(sync.started)}</td>
                  <td>{sync.kind === "full" ? "everything" : "changes"}</td>
                  <td>
                    <Status state={state}>{word}</Status>
                  </td>
                  <td className="r num">{sync.seconds === null ? "" : duration(sync.seconds * 1_000)}</td>
                  <td className="why">{sync.error ?? found(sync)}</td>
                </tr>
              );
            })}
        </tbody>
      </table>
      {syncs.length > MOST && <p className="dim caption">The newest {MOST} are shown.</p>}
    </div>
  );
}
