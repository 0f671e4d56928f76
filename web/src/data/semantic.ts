import { api, path } from "../api/client";
import type { SemanticDocument, SemanticHistory } from "../api/types";
import { refresh } from "../shared/fetched";

export interface NameEdit {
  table: string;
  column?: string;
  synonyms?: string[];
  label?: string;
}

interface End {
  table: string;
  columns: string[];
}

export interface RelationshipEdit {
  from: End;
  to: End;
  hidden?: boolean;
}

/** `note` describes the change in the history. */
export async function editNames(source: string, edit: NameEdit, note: string): Promise<void> {
  await api.patch<SemanticDocument>(path`/sources/${source}/semantic`, { edits: [{ kind: "name", ...edit }], note });
  changed(source);
}

export async function editRelationships(source: string, edits: RelationshipEdit[], note: string): Promise<void> {
  await api.patch<SemanticDocument>(path`/sources/${source}/semantic`, {
    edits: edits.map((edit) => ({ kind: "relationship", ...edit })),
    note,
  });
  changed(source);
}

export async function saveText(source: string, text: string, version: string, note: string): Promise<void> {
  await api.put<SemanticDocument>(path`/sources/${source}/semantic`, { text, version, note });
  changed(source);
}

/** Saves the text even if somebody else has changed it meanwhile. */
export async function overwrite(source: string, text: string, note: string): Promise<void> {
  const { version } = await api.get<SemanticDocument>(path`/sources/${source}/semantic`);
  await saveText(source, text, version, note);
}

export async function undo(source: string, change: string): Promise<void> {
  await api.post(path`/sources/${source}/semantic/undo`, { change_id: change });
  changed(source);
}

/** Undoes the last change. */
export async function undoLast(source: string): Promise<void> {
  const { changes } = await api.get<SemanticHistory>(path`/sources/${source}/semantic/history` + "?limit=1");
  if (changes[0]) await undo(source, changes[0].change_id);
}

/** Reloads everything that depends on the names. */
function changed(source: string): void {
  refresh(path`/sources/${source}`);
  refresh(path`/datasets/${source}`);
}
