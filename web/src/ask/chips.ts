const MOST = 6;
const FEW = 3;

/** Which sources stand below the question, in their order: all while they are not many, else the first few and whatever is asked; the rest waits in a list. */
export function chipsOf(sources: readonly string[], chosen: readonly string[]): [shown: string[], rest: string[]] {
  const always = new Set(sources.slice(0, sources.length > MOST ? FEW : MOST));
  const isShown = (name: string) => always.has(name) || chosen.includes(name);
  return [sources.filter(isShown), sources.filter((name) => !isShown(name))];
}
