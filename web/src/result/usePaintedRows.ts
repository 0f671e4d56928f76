import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { type Drawing, RowPainter } from "./rowPainter";
import { AT_TOP, type Place, placeAt, reaching, rowWindow, scrolled, settled } from "./rowWindow";

const REST_MS = 150;

/** Draws the visible rows into `body` while `scroll` is scrolled, and loads them from their source. */
export function usePaintedRows(
  scroll: RefObject<HTMLElement | null>,
  body: RefObject<HTMLElement | null>,
  drawing: Drawing,
) {
  const latest = useRef(drawing);
  const painter = useRef<RowPainter>(null);
  const place = useRef<Place>(AT_TOP);
  const { source, rows } = drawing;

  /** Does nothing until the height of the visible area is known. */
  function paint() {
    if (!latest.current.rows.viewport) return;
    const window = painter.current?.paint(latest.current, place.current);
    if (window) latest.current.source.ensure(window.first, window.end);
  }

  /** Sets the scroll bar without moving the rows on the screen. */
  function go(to: Place) {
    if (to.scrollTop === place.current.scrollTop && to.offset === place.current.offset) return;
    if (scroll.current) scroll.current.scrollTop = to.scrollTop;
    place.current = { ...to, scrollTop: scroll.current?.scrollTop ?? to.scrollTop };
    paint();
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: set up once; everything that changes is read from `latest` and `place`.
  useLayoutEffect(() => {
    const node = scroll.current;
    if (!node || !body.current) return undefined;
    painter.current = new RowPainter(body.current);
    let rest = 0;
    const follow = () => {
      if (node.scrollTop === place.current.scrollTop) return;
      place.current = scrolled(latest.current.rows, place.current, node.scrollTop);
      paint();
      clearTimeout(rest);
      rest = window.setTimeout(() => go(settled(latest.current.rows, place.current)), REST_MS);
    };
    node.addEventListener("scroll", follow, { passive: true });
    return () => {
      clearTimeout(rest);
      node.removeEventListener("scroll", follow);
    };
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only a change of the row count makes the position invalid.
  useLayoutEffect(() => {
    place.current = placeAt(rows, scroll.current?.scrollTop ?? 0);
  }, [rows.count]);

  useLayoutEffect(() => {
    latest.current = drawing;
    paint();
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: `paint` reads everything that changes from `latest`.
  useEffect(() => source.subscribe(paint), [source]);

  return {
    first: () => rowWindow(latest.current.rows, place.current).first,
    show: (row: number) => go(reaching(latest.current.rows, row, place.current)),
  };
}
