import { useEffect, useState } from "react";
import type { RunEvent } from "../api/events";
import { follow } from "../api/stream";

/** All events of the run, in order, including those that still arrive. */
export function EventsTab({ run }: { run: string }) {
  const [events, setEvents] = useState<RunEvent[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    setEvents([]);
    void follow(run, {
      onEvents: (events) => setEvents((now) => [...now, ...events]),
      onReconnect: () => setEvents((now) => now.slice(0, now.findLastIndex((event) => event.seq > 0) + 1)),
      signal: stop.signal,
    });
    return () => stop.abort();
  }, [run]);
  const began = events[0]?.at ?? 0;
  return (
    <div className="scroll" tabIndex={0}>
      <table className="data dense events">
        <thead>
          <tr>
            <th className="r">#</th>
            <th className="r">
              After <span className="u">s</span>
            </th>
            <th>Event</th>
            <th>Content</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event, place) => {
            const { run: _run, seq, at, type, ...content } = event;
            return (
              <tr key={seq || `piece ${place}`}>
                <td className="r num dim">{seq || null}</td>
                <td className="r num">{(at - began).toFixed(3)}</td>
                <td className="mono">{type}</td>
                <td className="mono clip dim">{text(content)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

const LONGEST = 300;

function text(content: object): string {
  const whole = JSON.stringify(content, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
  return whole.length > LONGEST ? `${whole.slice(0, LONGEST)} …` : whole;
}
