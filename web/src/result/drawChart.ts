import { type Loader, parse, View } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile, type TopLevelSpec } from "vega-lite";
import type { Json } from "../api/types";
import type { Spec } from "./chartSpec";

/** A chart reads nothing from anywhere, and links nowhere. */
const NO_LOADER = {
  load: () => Promise.reject(new Error("A chart may not load data.")),
  sanitize: () => Promise.reject(new Error("A chart may not link.")),
  http: () => Promise.reject(new Error("A chart may not load data.")),
  file: () => Promise.reject(new Error("A chart may not load data.")),
} as unknown as Loader;

/** Draws without evaluating any text as code: expressions are walked as trees, which the page's policy allows. */
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
