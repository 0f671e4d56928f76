import { api, path } from "../api/client";
import type { SemanticDocument } from "../api/types";
import { refresh } from "../shared/fetched";

export interface NameEdit {
  table: string;
  column?: string;
  synonyms?: string[];
  label?: string;
}

export interface RelationshipEdit {
  from: string;
  to: string;
  hidden?: boolean;
}

export async function editNames(source: string, edit: NameEdit): Promise<void> {
  await api.patch<SemanticDocument>(path`/sources/${source}/semantic`, { edits: [{ kind: "name", ...edit }] });
  changed(source);
}

export async function editRelationships(source: string, ...edits: RelationshipEdit[]): Promise<void> {
  await api.patch<SemanticDocument>(path`/sources/${source}/semantic`, { edits: edits.map((edit) => ({ kind: "relationship", ...edit })) });
  changed(source);
}

export async function saveText(source: string, text: string, version: string): Promise<SemanticDocument> {
  const saved = await api.put<SemanticDocument>(path`/sources/${source}/semantic`, { text, version });
  changed(source);
  return saved;
}

export async function undo(source: string, change: string): Promise<void> {
  await api.post(path`/sources/${source}/semantic/undo`, { change_id: change });
  changed(source);
}

/** What was read with the old names is looked at again. */
function changed(source: string): void {
  refresh(path`/sources/${source}`);
  refresh(path`/datasets/${source}`);
}
