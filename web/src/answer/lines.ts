import type { Answer, Json } from "../api/types";
import { cellText, formatOf } from "./cells";
import type { LineFigure } from "./figure";
import { type Line, positionOf } from "./lineLayout";

export interface Lines {
  lines: Line[];
  positions: (number | null)[];
}

/** The lines of a figure over time: one for each measure, or one for each value of the series column. */
export function linesOf(answer: Answer, rows: Json[][], { label, measures, series }: LineFigure): Lines {
  const [labelFormat, type] = [formatOf(answer, label), answer.columns[label]?.type ?? ""];
  const labels = [...new Set(rows.map((row) => row[label] ?? null))].sort((a, b) => order(a, b, type));
  const groups: { name: string; measure: number; rows: Json[][] }[] =
    series === null
      ? measures.map((measure) => ({ name: formatOf(answer, measure).header, measure, rows }))
      : [...new Set(rows.map((row) => row[series] ?? null))].map((value) => ({
          name: cellText(value, formatOf(answer, series)),
          measure: measures[0] ?? 0,
          rows: rows.filter((row) => (row[series] ?? null) === value),
        }));
  return {
    positions: labels.map((value) => positionOf(value, type)),
    lines: groups.map(({ name, measure, rows: own }) => {
      const byLabel = new Map(own.map((row) => [row[label] ?? null, row[measure] ?? null]));
      const format = formatOf(answer, measure);
      return {
        name,
        points: labels.map((value) => {
          const found = byLabel.get(value) ?? null;
          return {
            label: cellText(value, labelFormat),
            value: found === null ? null : Number(found),
            text: found === null ? "" : cellText(found, format),
          };
        }),
      };
    }),
  };
}

/** Times in their order; labels that are no times keep the order of the rows. */
function order(a: Json, b: Json, type: string): number {
  const [x, y] = [positionOf(a, type), positionOf(b, type)];
  return x === null || y === null ? 0 : x - y;
}
