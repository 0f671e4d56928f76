import { RefreshCw } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { api, Problem, path } from "../api/client";
import type { OktaSyncList, Tenant } from "../api/types";
import { Bar } from "../run/StepList";
import { refresh, useFetched } from "../shared/fetched";
import { age, count, moment, plural } from "../shared/format";
import { Notice, ProblemNotice } from "../shared/Notice";
import { SkeletonRows } from "../shared/Skeleton";
import { Status } from "../shared/Status";
import { TenantHistory } from "./TenantHistory";
import { TenantSchedule } from "./TenantSchedule";
import "./tenant.css";

const RUNNING_MS = 1_000;
const RESTING_MS = 15_000;

/** A synced tenant: what it holds, when it was synced and is synced next, and what each sync found. */
export function TenantTab({ name }: { name: string }) {
  const address = path`/okta/${name}`;
  const tenant = useFetched<Tenant>(address);
  const syncs = useFetched<OktaSyncList>(`${address}/syncs`);
  const [problem, setProblem] = useState<Problem | null>(null);
  const running = Boolean(tenant.data?.running);
  useLooking(tenant.reload, syncs.reload, running);
  const changed = async (work: Promise<unknown>) => {
    try {
      await work;
      setProblem(null);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    }
    refresh(address);
  };
  if (tenant.problem && !tenant.data) return <ProblemNotice problem={tenant.problem} onRetry={tenant.reload} />;
  if (!tenant.data) return <SkeletonRows rows={8} columns={4} />;
  const { data } = tenant;
  return (
    <div className="tenant scroll">
      <section className="t-now" aria-label="Sync">
        <LastSync tenant={data} />
        <button
          type="button"
          className="btn small"
          disabled={running}
          onClick={() => void changed(api.post(`${address}/syncs`, { full: false }))}
        >
          <RefreshCw className="i i-s" aria-hidden />
          {running ? "Syncing …" : "Sync now"}
        </button>
      </section>
      {problem && <ProblemNotice problem={problem} />}
      {data.problem && !running && (
        <Notice tone="error" title="The last sync failed">
          <p>{data.problem}</p>
          <p className="dim">Questions are answered from the last complete sync.</p>
        </Notice>
      )}
      <div className="t-parts">
        <Entities tenant={data} />
        <div>
          <TenantSchedule
            key={data.schedule?.cron}
            schedule={data.schedule}
            onSet={(cron, zone) => changed(api.put(`${address}/schedule`, { cron, zone }))}
            onRemove={() => changed(api.remove(`${address}/schedule`))}
          />
          <h3>History</h3>
          {syncs.problem && !syncs.data && <ProblemNotice problem={syncs.problem} onRetry={syncs.reload} />}
          {syncs.data && <TenantHistory syncs={syncs.data.syncs} />}
        </div>
      </div>
    </div>
  );
}

/** Looks often while a sync runs. When it has ended, the history and the tables of the source are read again. */
function useLooking(look: () => void, ended: () => void, running: boolean): void {
  const before = useRef(running);
  useEffect(() => {
    if (before.current && !running) {
      ended();
      refresh("/sources");
      refresh("/datasets");
    }
    before.current = running;
    const timer = setInterval(() => document.hidden || look(), running ? RUNNING_MS : RESTING_MS);
    return () => clearInterval(timer);
  }, [look, ended, running]);
}

function LastSync({ tenant: { running, last_sync: last, url } }: { tenant: Tenant }) {
  return (
    <div className="grow">
      <p className="clip dim" title={url}>
        {url}
      </p>
      <div role="status">
        {running ? (
          <>
            <Status state="running">{running.message}</Status>
            {running.total > 0 && <Bar done={running.done} total={running.total} />}
            <p className="caption dim">
              {running.total > 0 && `${count(running.done)} of ${plural(running.total, "list")} read. `}
              Until it is complete, questions are answered from the sync before.
            </p>
          </>
        ) : last ? (
          <Status state="ok">
            Synced {moment(last)}, {age(last)} ago
          </Status>
        ) : (
          <Status state="idle">Not synced yet</Status>
        )}
      </div>
    </div>
  );
}

function Entities({ tenant }: { tenant: Tenant }) {
  if (!tenant.entities.length) return <p className="dim">What it holds is counted after the first complete sync.</p>;
  return (
    <table className="data">
      <thead>
        <tr>
          <th scope="col">Entity</th>
          <th scope="col" className="r">
            Synced
          </th>
        </tr>
      </thead>
      <tbody>
        {tenant.entities.map(({ name, rows }) => (
          <tr key={name}>
            <td>{name.replaceAll("_", " ")}</td>
            <td className="r num">{count(rows)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
