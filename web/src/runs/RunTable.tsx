import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { memo, useEffect, useRef } from "react";
import type { RunSummary } from "../api/types";
import { count, duration, moment, plural, shortId } from "../shared/format";
import { address, navigate } from "../shared/router";
import { runState, Status } from "../shared/Status";

const ROW = 46;
/** On a phone a run is an entry of a list: its question in up to two lines, and one line about it. */
const PHONE_ROW = 76;
const AHEAD = 30;

interface Props {
  runs: RunSummary[];
  total: number;
  current: (string | null)[];
  picked: RunSummary[];
  onPick: (run: RunSummary) => void;
  /** Called when the user nears the end of the list. */
  onEnd: () => void;
}

/** The list of runs. Only visible rows are rendered. */
export function RunTable({ runs, total, current, picked, onPick, onEnd }: Props) {
  const table = useRef<HTMLTableElement>(null);
  const virtualizer = useVirtualizer({
    count: runs.length,
    estimateSize: () => (matchMedia("(max-width: 720px)").matches ? PHONE_ROW : ROW),
    getScrollElement: () => table.current?.closest<HTMLElement>(".scroll") ?? null,
    overscan: 12,
  });
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  const near = last !== undefined && last.index >= runs.length - AHEAD;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `onEnd` is called once for each length of the list.
  useEffect(() => {
    if (near) onEnd();
  }, [near, runs.length]);
  return (
    <table className="data runs" ref={table} aria-rowcount={total + 1}>
      <thead>
        <tr>
          <th>
            <span className="vh">Select</span>
          </th>
          <th>Run</th>
          <th>Source</th>
          <th className="r sorted" aria-sort="descending">
            Started
            <ArrowDown className="i" aria-hidden />
          </th>
          <th className="r">Time</th>
          <th className="r">Rows</th>
        </tr>
      </thead>
      <tbody>
        <Gap height={first?.start ?? 0} />
        {items.map(({ index }) => {
          const run = runs[index];
          return (
            run && (
              <RunRow
                key={run.run_id}
                run={run}
                at={index + 2}
                current={current.includes(run.run_id)}
                picked={picked.some((known) => known.run_id === run.run_id)}
                onPick={onPick}
              />
            )
          );
        })}
        <Gap height={virtualizer.getTotalSize() - (last?.end ?? 0)} />
      </tbody>
    </table>
  );
}

function Gap({ height }: { height: number }) {
  return height > 0 ? (
    <tr className="gap" aria-hidden>
      <td colSpan={6} style={{ height }} />
    </tr>
  ) : null;
}

/** Duration and rows, below the title on a phone. They are never cut; the sources before them may be. */
function phoneFacts(run: RunSummary): string {
  const facts = [
    run.duration_ms !== null && duration(run.duration_ms),
    run.row_count !== null && plural(run.row_count, "row"),
  ];
  return facts.filter(Boolean).join(" · ");
}

interface RowProps {
  run: RunSummary;
  at: number;
  current: boolean;
  picked: boolean;
  onPick: (run: RunSummary) => void;
}

const RunRow = memo(function RunRow({ run, at, current, picked, onPick }: RowProps) {
  const [state, word] = runState(run.status, run.kind);
  const place = address("runs", run.run_id);
  return (
    <tr aria-rowindex={at} aria-selected={current} onClick={() => navigate(place)}>
      <td onClick={(event) => event.stopPropagation()}>
        <label>
          <input
            type="checkbox"
            aria-label={`Select ${run.question ?? run.run_id}`}
            checked={picked}
            onChange={() => onPick(run)}
          />
        </label>
      </td>
      <td>
        <a
          className="w clip"
          dir="auto"
          href={place}
          onClick={(event) => {
            event.preventDefault();
            navigate(place);
          }}
        >
          {run.question ?? "A query"}
        </a>
        <span className="m">
          <Status state={state}>{word}</Status>
          <span className="hide-s">
            {" · "}
            <span className="mono">{shortId(run.run_id)}</span>
          </span>
          <span className="only-s clip">{run.sources.join(", ")}</span>
          <span className="only-s num whole">{phoneFacts(run)}</span>
        </span>
      </td>
      <td className="sc">
        <span className="clip">{run.sources.join(", ")}</span>
      </td>
      <td className="r num">{moment(run.created_at)}</td>
      <td className="r num">{run.duration_ms === null ? "–" : duration(run.duration_ms)}</td>
      <td className="r num">{run.row_count === null ? "–" : count(run.row_count)}</td>
    </tr>
  );
});
