import { type Loader, parse, View } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile, type TopLevelSpec } from "vega-lite";
import type { Json } from "../api/types";
import type { Spec } from "./chartSpec";

/** Refuses everything, because a chart must neither load data nor open links. */
const NO_LOADER = {
  load: () => Promise.reject(new Error("A chart may not load data.")),
  sanitize: () => Promise.reject(new Error("A chart may not link.")),
  http: () => Promise.reject(new Error("A chart may not load data.")),
  file: () => Promise.reject(new Error("A chart may not load data.")),
} as unknown as Loader;

/** Draws a chart. Expressions are interpreted as syntax trees, because the Content-Security-Policy forbids `eval`. */
export async function drawChart(
  container: HTMLElement,
  spec: Spec,
  config: Record<string, unknown>,
  rows: Record<string, Json>[],
): Promise<View> {
  const compiled = compile({ ...spec, config, datasets: { rows } } as unknown as TopLevelSpec).spec;
  const view = new View(parse(compiled, undefined, { ast: true }), {
    expr: expressionInterpreter,
    loader: NO_LOADER,
    renderer: "canvas",
    container,
    hover: true,
  } as ConstructorParameters<typeof View>[1]);
  return view.runAsync();
}

export async function toPng(view: View): Promise<Blob> {
  const canvas = await view.toCanvas(2);
  return new Promise((resolve, reject) =>
    (canvas as unknown as HTMLCanvasElement).toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error("no picture"))),
      "image/png",
    ),
  );
}

export async function toSvg(view: View): Promise<Blob> {
  return new Blob([await view.toSVG()], { type: "image/svg+xml" });
}
