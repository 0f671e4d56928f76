import { useMemo } from "react";
import { scaleOf } from "../answer/cellBar";
import { type CellFormat, cellText } from "../answer/cells";
import { path, query } from "../api/client";
import type { Answer, Json, Quantity, RowTotals } from "../api/types";
import { useFetched } from "../shared/fetched";
import { count } from "../shared/format";

const ADD_UP: readonly (Quantity | null)[] = ["amount", "change", "share"];
const HAVE_BARS: readonly (Quantity | null)[] = ["change", "growth", "share", "rate"];

const EDGE = 26;
const PER_LETTER = 7.3;

export function hasBar(format: CellFormat): boolean {
  return HAVE_BARS.includes(format.quantity);
}

/** The total row of a table, and the rows that it covers. */
export interface TotalLine {
  /** By column; absent if the values of the column do not add up. */
  cells: ({ text: string; missing: number } | null)[];
  label: string;
}

/** The totals of an answer's columns, and column formats with the scale of their bars. */
export function useTotals(
  answer: Answer | null,
  formats: CellFormat[],
  search: string,
): { line: TotalLine | null; formats: CellFormat[] } {
  const wanted = answer !== null && answer.row_count > 1 && formats.some((format) => format.quantity !== null);
  const whole = useFetched<RowTotals>(wanted ? path`/runs/${answer.run_id}/rows/totals` : null).data;
  const selection = search.trim() && JSON.stringify({ search: search.trim() });
  const sought = useFetched<RowTotals>(
    wanted && selection ? path`/runs/${answer.run_id}/rows/totals` + query({ selection }) : null,
  ).data;
  const totals = selection ? sought : whole;
  return {
    formats: useMemo(() => (answer && whole ? scaled(answer, formats, whole) : formats), [answer, formats, whole]),
    line: useMemo(() => (answer && totals ? totalLine(answer, formats, totals) : null), [answer, formats, totals]),
  };
}

/** The scale of bars comes from all rows, so that filtering does not change it. */
function scaled(answer: Answer, formats: CellFormat[], { columns }: RowTotals): CellFormat[] {
  return formats.map((format, i) => {
    const range = hasBar(format) && columns.find((known) => known.column === answer.columns[i]?.name);
    return range
      ? { ...format, bar: scaleOf(range.minimum, range.maximum, roomFor(format, range.minimum, range.maximum)) }
      : format;
  });
}

function roomFor(format: CellFormat, ...values: Json[]): number {
  return EDGE + PER_LETTER * Math.max(...values.map((value) => cellText(value, format).length));
}

/** Returns no totals if parts of the answer are missing: a total over half of the data is worse than none. */
export function totalLine(answer: Answer, formats: CellFormat[], totals: RowTotals): TotalLine | null {
  const cells = answer.columns.map((column, i) => {
    const format = formats[i]!;
    const found = totals.columns.find((known) => known.column === column.name);
    if (!found || found.total === null || !ADD_UP.includes(format.quantity)) return null;
    return { text: cellText(found.total, format), missing: found.null_count };
  });
  if (answer.status === "partial" || totals.row_count < 2 || !cells.some(Boolean)) return null;
  const all = totals.row_count === answer.row_count;
  return {
    cells,
    label: all ? `All ${count(totals.row_count)}` : `${count(totals.row_count)} of ${count(answer.row_count)}`,
  };
}
