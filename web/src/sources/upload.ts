import { api, Problem, query, request } from "../api/client";
import type { SourceSummary, UploadedFile } from "../api/types";
import { parseJson } from "../api/json";
import { address, navigate } from "../app/router";
import { toast } from "../app/toasts";
import { refresh } from "../shared/fetched";
import { createStore } from "../shared/store";

/** Files on their way to the server. */
export const uploading = createStore<string[]>([]);

/** Adds files, each as a source named after it, and shows the last. */
export async function addFiles(files: File[]): Promise<void> {
  let last: SourceSummary | null = null;
  for (const file of files) {
    uploading.set((now) => [...now, file.name]);
    try {
      last = (await send(file)).source;
      toast(`${file.name} can be asked now`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      toast(error.hint ? `${error.message} ${error.hint}` : error.message, { state: "error" });
    } finally {
      uploading.set((now) => now.filter((name) => name !== file.name));
      refresh("/sources");
    }
  }
  if (last) navigate(address("sources", last.name));
}

async function send(file: File): Promise<UploadedFile> {
  const headers = { "Content-Type": "application/octet-stream" };
  const response = await request(`/uploads${query({ name: file.name })}`, { method: "POST", headers, body: file });
  return parseJson<UploadedFile>(await response.text());
}

export async function addDatabase(url: string, name: string): Promise<void> {
  const made = await api.post<SourceSummary>("/sources", { url, ...(name && { name }) });
  refresh("/sources");
  navigate(address("sources", made.name));
}
