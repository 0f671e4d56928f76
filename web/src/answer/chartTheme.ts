/** The current values of the design tokens: Vega draws on a canvas, which cannot use CSS custom properties. */

const SERIES = ["--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5", "--chart-6"];

/** The computed colour of a token. Only a real element resolves `light-dark()`. */
function colour(probe: HTMLElement, token: string): string {
  probe.style.color = `var(${token})`;
  return getComputedStyle(probe).color;
}

export function chartConfig(within: HTMLElement): Record<string, unknown> {
  const probe = within.appendChild(document.createElement("i"));
  const of = (token: string) => colour(probe, token);
  const font = getComputedStyle(within).fontFamily;
  const text = {
    labelFont: font,
    titleFont: font,
    labelColor: of("--ink-2"),
    titleColor: of("--ink-3"),
    labelFontSize: 12,
    titleFontSize: 12,
    titleFontWeight: 400,
  };
  const config = {
    background: "transparent",
    view: { stroke: null },
    axis: {
      ...text,
      gridColor: of("--chart-grid"),
      domainColor: of("--line-strong"),
      tickColor: of("--line-strong"),
      labelPadding: 8,
      titlePadding: 12,
    },
    legend: { ...text, orient: "top", symbolType: "circle" },
    range: { category: SERIES.map(of), diverging: [of("--div-neg"), of("--div-pos")] },
    mark: { color: of("--chart-1") },
    text: { font, fontSize: 12, color: of("--ink-2") },
    bar: { color: of("--chart-1") },
    line: { color: of("--chart-1") },
    point: { color: of("--chart-1") },
    area: { color: of("--chart-1") },
  };
  probe.remove();
  return config;
}
