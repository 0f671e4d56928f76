import type { Answer, Json } from "../api/types";

/** The title of a result: that of its chart, else the sentence that says what was understood. */
export function titleOf(answer: Answer): string {
  const chart = answer.provenance.chart;
  const title = isRecord(chart) && typeof chart.title === "string" ? chart.title : null;
  return title ?? answer.provenance.understood ?? answer.columns.map((column) => column.name).join(", ");
}

function isRecord(value: Json): value is { [key: string]: Json } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
