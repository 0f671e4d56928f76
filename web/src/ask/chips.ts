const MOST = 6;
const FEW = 3;

/** The sources shown below the question, in order: all if there are few, else the first few and the chosen ones. The rest is in a list. */
export function chipsOf(sources: readonly string[], chosen: readonly string[]): [shown: string[], rest: string[]] {
  const always = new Set(sources.slice(0, sources.length > MOST ? FEW : MOST));
  const isShown = (name: string) => always.has(name) || chosen.includes(name);
  return [sources.filter(isShown), sources.filter((name) => !isShown(name))];
}
