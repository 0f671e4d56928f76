import { Trash2 } from "lucide-react";
import { useState } from "react";
import { api, Problem, path } from "../api/client";
import type { ScheduleList } from "../api/types";
import { refresh, useFetched } from "../shared/fetched";
import { moment } from "../shared/format";
import { ProblemNotice } from "../shared/Notice";
import { Status } from "../shared/Status";
import { toast } from "../shared/toasts";

/** When a graph runs by itself. */
export function Schedules({ graph }: { graph: string }) {
  const list = useFetched<ScheduleList>("/schedules");
  const [cron, setCron] = useState("0 7 * * mon");
  const [zone, setZone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC");
  const [problem, setProblem] = useState<Problem | null>(null);
  const own = list.data?.schedules.filter((known) => known.schedule.graph === graph) ?? [];
  const changed = async (work: Promise<unknown>) => {
    try {
      await work;
      setProblem(null);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    }
    refresh("/schedules");
  };
  const add = () => {
    const taken = new Set(list.data?.schedules.map((known) => known.name));
    let name = graph;
    for (let number = 2; taken.has(name); number++) name = `${graph}-${number}`;
    return changed(api.put(path`/schedules/${name}`, { schedule: { graph, cron, zone } }));
  };
  return (
    <div className="gform">
      <ul className="gruns">
        {own.map(({ name, schedule, next_at, problem: why }) => (
          <li key={name} className="row">
            <span className="grow">
              <b className="mono">{schedule.cron}</b> <span className="dim">{schedule.zone}</span>
              <small className="dim caption block">Next {moment(next_at)}</small>
              {why && <Status state="warn">{why}</Status>}
            </span>
            <button
              type="button"
              className="btn ghost icon small"
              aria-label={`Remove the schedule ${schedule.cron}`}
              onClick={() => void changed(api.remove(path`/schedules/${name}`).then(() => toast("Schedule removed")))}
            >
              <Trash2 className="i i-s" aria-hidden />
            </button>
          </li>
        ))}
      </ul>
      <form
        className="gform"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <label>
          <span className="label">Minute, hour, day, month, weekday</span>
          <input className="input mono" value={cron} onChange={(event) => setCron(event.target.value)} />
        </label>
        <label>
          <span className="label">Time zone</span>
          <input className="input" value={zone} onChange={(event) => setZone(event.target.value)} />
        </label>
        {problem && <ProblemNotice problem={problem} />}
        <div>
          <button type="submit" className="btn small">
            Add the schedule
          </button>
        </div>
      </form>
    </div>
  );
}
