import type { NumberLink } from "../api/types";

export interface Piece {
  text: string;
  link: NumberLink | null;
}

/** Splits the text at its linked numbers. Offsets count code points, as on the server. */
export function pieces(text: string, links: readonly NumberLink[]): Piece[] {
  const points = [...text];
  const found: Piece[] = [];
  let at = 0;
  for (const link of [...links].sort((a, b) => a.start - b.start)) {
    if (link.start < at || link.end > points.length) continue;
    if (link.start > at) found.push({ text: points.slice(at, link.start).join(""), link: null });
    found.push({ text: points.slice(link.start, link.end).join(""), link });
    at = link.end;
  }
  if (at < points.length) found.push({ text: points.slice(at).join(""), link: null });
  return found;
}
