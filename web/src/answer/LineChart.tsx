import { useLayoutEffect, useRef, useState } from "react";
import { lineLayout } from "./lineLayout";
import type { Lines } from "./lines";

/** Lines from zero, drawn at the width that the chart has. The point under the pointer says its value. */
export function LineChart({ lines, positions, percent, label }: Lines & { percent: boolean; label: string }) {
  const holder = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [at, setAt] = useState<number | null>(null);
  useLayoutEffect(() => {
    const node = holder.current;
    if (!node) return undefined;
    const observer = new ResizeObserver(() => setWidth(node.clientWidth));
    setWidth(node.clientWidth);
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  const layout = width > 0 ? lineLayout(lines, positions, width, percent) : null;
  return (
    <div className="plot" ref={holder}>
      {layout && (
        <svg
          className="lines"
          width={width}
          height={layout.height}
          role="img"
          aria-label={label}
          onPointerMove={(event) => {
            const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
            setAt(nearest(layout.places, x));
          }}
          onPointerLeave={() => setAt(null)}
        >
          {layout.yTicks.map(({ y, text }) => (
            <g key={text}>
              <line className="rule" x1={0} x2={width} y1={y} y2={y} />
              <text x={0} y={y - 4}>
                {text}
              </text>
            </g>
          ))}
          {layout.xTicks.map(({ x, text }) => (
            <text key={x} x={x} y={layout.height - 4} textAnchor={x > width - 40 ? "end" : "start"}>
              {text}
            </text>
          ))}
          {layout.paths.map((path, i) => (
            <path key={i} className={`ln k${(i % 6) + 1}`} d={path} />
          ))}
          {at === null
            ? layout.marks.map((mark, i) => (
                <g key={i}>
                  <circle className={`dot k${lines.length > 1 ? (i % 6) + 1 : 1}`} cx={mark.x} cy={mark.y} r={3} />
                  <text className="hi" x={mark.textX} y={mark.textY} textAnchor={mark.anchor}>
                    {mark.text}
                  </text>
                </g>
              ))
            : lines.map(({ name, points }, i) => {
                const point = points[at];
                const x = layout.places[at] ?? 0;
                if (!point || point.value === null) return null;
                const words = [lines.length > 1 && name, i === 0 && point.label, point.text].filter(Boolean).join(", ");
                return (
                  <g key={name}>
                    <circle className={`dot k${(i % 6) + 1}`} cx={x} cy={layout.y(point.value)} r={3} />
                    <text
                      className="hi"
                      x={x}
                      y={layout.y(point.value) - 9}
                      textAnchor={x < 70 ? "start" : x > width - 90 ? "end" : "middle"}
                    >
                      {words}
                    </text>
                  </g>
                );
              })}
        </svg>
      )}
    </div>
  );
}

function nearest(places: number[], x: number): number {
  return places.reduce((best, place, i) => (Math.abs(place - x) < Math.abs(places[best]! - x) ? i : best), 0);
}
