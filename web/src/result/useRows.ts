import { useEffect, useMemo, useSyncExternalStore } from "react";
import { heldRows, type RowOrder, type RowSource, remoteRows } from "../answer/rows";
import type { RunView } from "../run/run";
import { isOver } from "../run/run";

/** The rows of a run in this order: from memory if the page has all of them, else by range from the server. */
export function useRows(run: RunView, order: RowOrder): RowSource {
  const { columns, rows, rowCount, id } = run;
  const whole = rowCount !== null && rows.length >= rowCount;
  const streaming = !isOver(run) && !run.answer;
  const source = useMemo(
    () =>
      whole || streaming || !id ? heldRows(columns, rows, order) : remoteRows(id, columns, rowCount ?? 0, order, rows),
    [columns, rows, rowCount, id, whole, streaming, order],
  );
  useSyncExternalStore(source.subscribe, source.count);
  useEffect(() => () => source.close(), [source]);
  return source;
}
