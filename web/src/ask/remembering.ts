import { api, Problem, path } from "../api/client";
import type { Catalog, Choice, Synonym } from "../api/types";
import { editNames, undoLast } from "../data/semantic";
import { createStore } from "../shared/store";
import { toast } from "../shared/toasts";

/** Whether the next choice becomes a synonym. */
export const remembering = createStore(false);

/** The word of the question that a choice would give a meaning, or null. */
export function wordToRemember(choices: readonly Choice[]): string | null {
  return choices.find((choice) => choice.synonym)?.synonym?.phrase ?? null;
}

/** Stores the word as a synonym of the column in this source. A toast reports the outcome and offers to undo it. */
export async function rememberSynonym(source: string, synonym: Synonym): Promise<void> {
  try {
    await addSynonym(source, synonym);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    toast(error.message, { state: "error" });
    return;
  }
  toast(`“${synonym.phrase}” means ${synonym.table}.${synonym.column} in ${source} from now on`, {
    action: { label: "Undo", run: () => void undoLast(source) },
  });
}

async function addSynonym(source: string, { phrase, table, column }: Synonym): Promise<void> {
  const catalog = await api.get<Catalog>(path`/datasets/${source}/schema`);
  const known =
    catalog.tables.find((each) => each.name === table)?.columns.find((each) => each.name === column)?.synonyms ?? [];
  if (!known.includes(phrase))
    await editNames(
      source,
      { table, column, synonyms: [...known, phrase] },
      `${table}.${column} is also called ${phrase}`,
    );
}
