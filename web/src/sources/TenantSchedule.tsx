import { Trash2 } from "lucide-react";
import { useState } from "react";
import type { Tenant } from "../api/types";
import { clock, moment } from "../shared/format";
import { Status } from "../shared/Status";

interface Props {
  schedule: Tenant["schedule"];
  onSet: (cron: string, zone: string) => Promise<void>;
  onRemove: () => Promise<void>;
}

/** When a tenant is synced by itself. */
export function TenantSchedule({ schedule, onSet, onRemove }: Props) {
  const [cron, setCron] = useState(schedule?.cron ?? "0 * * * *");
  const [zone, setZone] = useState(() => schedule?.zone ?? (Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC"));
  const same = schedule?.cron === cron.trim() && schedule.zone === zone.trim();
  return (
    <>
      <h3>Schedule</h3>
      <p className="row">
        {schedule ? (
          <>
            <span>
              <b className="mono">{schedule.cron}</b> <span className="dim">{schedule.zone}</span>, next{" "}
              {dayAndTime(schedule.next_at)}
            </span>
            <button
              type="button"
              className="btn ghost icon small"
              aria-label="Remove the schedule"
              onClick={() => void onRemove()}
            >
              <Trash2 className="i i-s" aria-hidden />
            </button>
          </>
        ) : (
          <span className="dim">It is synced only when somebody asks for it.</span>
        )}
      </p>
      {schedule?.problem && <Status state="warn">{schedule.problem}</Status>}
      <form
        className="t-schedule"
        onSubmit={(event) => {
          event.preventDefault();
          void onSet(cron.trim(), zone.trim());
        }}
      >
        <label>
          <span className="label">Minute, hour, day, month, weekday</span>
          <input className="input mono" required value={cron} onChange={(event) => setCron(event.target.value)} />
        </label>
        <label>
          <span className="label">Time zone</span>
          <input className="input" required value={zone} onChange={(event) => setZone(event.target.value)} />
        </label>
        <button type="submit" className="btn" disabled={same}>
          {schedule ? "Change" : "Set"}
        </button>
      </form>
    </>
  );
}

/** A moment of another day needs its time, too. */
function dayAndTime(iso: string): string {
  return [...new Set([moment(iso), clock(iso)])].join(", ");
}
