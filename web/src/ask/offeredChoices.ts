import type { Answer, Choice } from "../api/types";

const READINGS = 3;

/** The choices that a question back offers: a few readings, and one other source to ask. The best come first. */
export function offeredChoices({ kind, choices }: Answer): Choice[] {
  if (kind !== "clarify") return [];
  const readings = choices.filter((choice) => choice.source === null).filter(firstOfItsSentence);
  const elsewhere = choices.filter((choice) => choice.source !== null);
  return [...readings.slice(0, READINGS), ...elsewhere.slice(0, 1)];
}

/** Nobody can choose between two readings that say the same. */
function firstOfItsSentence(choice: Choice, place: number, all: Choice[]): boolean {
  return all.findIndex(({ label }) => label === choice.label) === place;
}
