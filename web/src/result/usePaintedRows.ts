import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { type Drawing, RowPainter } from "./rowPainter";
import { AT_TOP, type Place, placeAt, reaching, rowWindow, scrolled, settled } from "./rowWindow";

const REST_MS = 150;

/** Keeps the rows in sight drawn in `body` while `scroll` is scrolled, and asks their source for them. */
export function usePaintedRows(
  scroll: RefObject<HTMLElement | null>,
  body: RefObject<HTMLElement | null>,
  drawing: Drawing,
) {
  const latest = useRef(drawing);
  const painter = useRef<RowPainter>(null);
  const place = useRef<Place>(AT_TOP);
  const { source, rows } = drawing;

  /** Not before it is known how much is in sight. */
  function paint() {
    if (!latest.current.rows.viewport) return;
    const window = painter.current?.paint(latest.current, place.current);
    if (window) latest.current.source.ensure(window.first, window.end);
  }

  /** The rows stay where they are on the screen when only the scroll bar is set. */
  function go(to: Place) {
    if (to.scrollTop === place.current.scrollTop && to.offset === place.current.offset) return;
    if (scroll.current) scroll.current.scrollTop = to.scrollTop;
    place.current = { ...to, scrollTop: scroll.current?.scrollTop ?? to.scrollTop };
    paint();
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: set up once; all that changes is read from `latest` and `place`.
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: only another number of rows makes the place invalid.
  useLayoutEffect(() => {
    place.current = placeAt(rows, scroll.current?.scrollTop ?? 0);
  }, [rows.count]);

  useLayoutEffect(() => {
    latest.current = drawing;
    paint();
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: `paint` reads all that changes from `latest`.
  useEffect(() => source.subscribe(paint), [source]);

  return {
    first: () => rowWindow(latest.current.rows, place.current).first,
    show: (row: number) => go(reaching(latest.current.rows, row, place.current)),
  };
}
