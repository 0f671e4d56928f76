import { useEffect, useRef } from "react";
import type { View } from "vega";
import type { Answer, Json } from "../api/types";
import { useStore } from "../shared/store";
import { themeChanges } from "../shared/theme";
import { type ChartKind, chartFields, chartRows, chartSpec, defaultKind, description } from "./chartSpec";
import { chartConfig } from "./chartTheme";
import { drawChart } from "./drawChart";
import { titleOf } from "./title";

interface Props {
  answer: Answer;
  rows: Json[][];
  /** The kind that the user chose; else the one that suits the answer. */
  kind?: ChartKind;
  /** Receives the drawn chart, so that it can be saved. */
  onDrawn?: (view: View | null) => void;
}

export default function DrawnChart({ answer, rows, kind, onDrawn }: Props) {
  const fields = chartFields(answer.columns, rows);
  const holder = useRef<HTMLDivElement>(null);
  const theme = useStore(themeChanges);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `fields` is a new object in each render; its three parts are listed.
  useEffect(() => {
    const node = holder.current;
    if (!node || !fields) return undefined;
    let view: View | null = null;
    let gone = false;
    const spec = chartSpec(answer, kind ?? defaultKind(answer, fields), fields, rows);
    void drawChart(node, spec, chartConfig(node), chartRows(answer, fields, rows)).then((drawn) => {
      if (gone) return drawn.finalize();
      view = drawn;
      return onDrawn?.(drawn);
    });
    return () => {
      gone = true;
      onDrawn?.(null);
      view?.finalize();
      node.replaceChildren();
    };
  }, [answer, kind, fields?.label, fields?.measure, fields?.series, rows, theme]);

  if (!fields) return null;
  return (
    <div
      className="chart"
      ref={holder}
      role="img"
      aria-label={`${titleOf(answer)}. ${description(answer, fields, rows)}`}
    />
  );
}
