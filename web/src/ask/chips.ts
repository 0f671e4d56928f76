const MOST = 6;

/** Which sources stand below the question, in their order: the first few, and whatever is asked. The rest waits in a list. */
export function chipsOf(sources: readonly string[], chosen: readonly string[]): [shown: string[], rest: string[]] {
  const few = new Set(sources.slice(0, sources.length > MOST ? MOST - 1 : MOST));
  const isShown = (name: string) => few.has(name) || chosen.includes(name);
  return [sources.filter(isShown), sources.filter((name) => !isShown(name))];
}
