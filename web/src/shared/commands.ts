import { createStore } from "./store";

export interface Command {
  id: string;
  group: string;
  label: string;
  note?: string;
  keys?: string[];
  run: () => void;
}

/** The commands that each mounted view adds to the palette. */
export const offered = createStore<Record<string, Command[]>>({});

export function offer(view: string, commands: Command[]): () => void {
  offered.set((now) => ({ ...now, [view]: commands }));
  return () => offered.set(({ [view]: _, ...rest }) => rest);
}

/** The commands whose label contains every word of the query. Labels that begin with the query come first. */
export function matching(commands: readonly Command[], query: string, most = 12): Command[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = commands.filter((command) => {
    const text = `${command.label} ${command.note ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const begins = (command: Command) => (command.label.toLowerCase().startsWith(query.toLowerCase()) ? 0 : 1);
  return hits.sort((a, b) => begins(a) - begins(b)).slice(0, most);
}

/** Splits a label into pieces, each with whether it matches a word of the query. */
export function marked(label: string, query: string): [piece: string, hit: boolean][] {
  const words = query
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!words.length) return [[label, false]];
  return label
    .split(new RegExp(`(${words.join("|")})`, "i"))
    .map((piece, i): [string, boolean] => [piece, i % 2 === 1])
    .filter(([piece]) => piece);
}
