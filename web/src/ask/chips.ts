const MOST = 3;
const FEW = 2;

/**
 * The sources to show below the question, and those to put in a menu. If there are few, all are shown; otherwise the first
 * few and the chosen ones.
 */
export function chipsOf(sources: readonly string[], chosen: readonly string[]): [shown: string[], rest: string[]] {
  const always = new Set(sources.slice(0, sources.length > MOST ? FEW : MOST));
  const isShown = (name: string) => always.has(name) || chosen.includes(name);
  return [sources.filter(isShown), sources.filter((name) => !isShown(name))];
}
