import { api, Problem, query } from "../api/client";
import { sendFile } from "../api/sendFile";
import type { SourceList, SourceSummary, UploadedFile } from "../api/types";
import { refresh } from "../shared/fetched";
import { plural } from "../shared/format";
import { address, navigate } from "../shared/router";
import { createStore } from "../shared/store";
import { toast } from "../shared/toasts";
import { grouped, refusal } from "./uploadPlan";

export interface Upload {
  id: number;
  file: File;
  sent: number;
  state: "waiting" | "sending" | "done" | "failed";
  problem: string | null;
  stop: () => void;
}

/** Running uploads, and failed ones until the user dismisses them. */
export const uploads = createStore<Upload[]>([]);

/** The source that was added last. The next question asks it instead of the default source. */
export const newest = createStore<string | null>(null);

let last = 0;

/** Uploads files. Tables that are uploaded together become one source, named after their folder or the first file. */
export async function addFiles(files: File[], folder: string | null = null): Promise<void> {
  const groups = grouped(files).map((group) => group.map(begun));
  uploads.set((now) => [...now, ...groups.flat().map(({ upload }) => upload)]);
  let shown: string | null = null;
  for (const group of groups) {
    const name = await addTogether(group, group.length > 1 ? folder : null);
    shown = name ?? shown;
  }
  uploads.set((now) => now.filter((upload) => upload.state !== "done"));
  if (shown) showAdded(shown);
}

/** Who looks at sources sees the new one; who asks can ask it next. */
function showAdded(name: string): void {
  newest.set(name);
  navigate(location.pathname.startsWith("/sources") ? address("sources", name) : "/ask");
}

interface Begun {
  upload: Upload;
  stopping: AbortController;
}

function begun(file: File): Begun {
  const stopping = new AbortController();
  return {
    upload: { id: ++last, file, sent: 0, state: "waiting", problem: null, stop: () => stopping.abort() },
    stopping,
  };
}

/** Returns the name of the source, or null if no file could be added. */
async function addTogether(group: Begun[], wanted: string | null): Promise<string | null> {
  let source: string | null = null;
  let added = 0;
  for (const each of group) {
    const uploaded = await add(each, source ?? wanted);
    source = uploaded?.source.name ?? source;
    added += uploaded ? 1 : 0;
  }
  if (source) toast(added > 1 ? `${plural(added, "file")} were added, together as ${source}` : `${source} was added`);
  return source;
}

async function add({ upload, stopping }: Begun, source: string | null): Promise<UploadedFile | null> {
  const { file, id } = upload;
  try {
    if (stopping.signal.aborted) throw new DOMException("Stopped.", "AbortError");
    const why = refusal(file.size, await api.get<SourceList>("/sources"));
    if (why) throw new Problem({ detail: why });
    change(id, { state: "sending" });
    const sending = { onSent: (sent: number) => change(id, { sent }), signal: stopping.signal };
    const uploaded = await sendFile<UploadedFile>(`/uploads${query({ name: file.name, source })}`, file, sending);
    change(id, { state: "done", sent: file.size });
    return uploaded;
  } catch (error) {
    failed(id, error);
    return null;
  } finally {
    refresh("/sources");
  }
}

function failed(id: number, error: unknown): void {
  if (error instanceof DOMException && error.name === "AbortError") dismiss(id);
  else if (!(error instanceof Problem)) throw error;
  else change(id, { state: "failed", problem: error.hint ? `${error.message} ${error.hint}` : error.message });
}

function change(id: number, changes: Partial<Upload>): void {
  uploads.set((now) => now.map((upload) => (upload.id === id ? { ...upload, ...changes } : upload)));
}

export function dismiss(id: number): void {
  uploads.set((now) => now.filter((upload) => upload.id !== id));
}

export async function addDatabase(url: string, name: string): Promise<void> {
  const added = await api.post<SourceSummary>("/sources", { url, ...(name && { name }) });
  refresh("/sources");
  showAdded(added.name);
}
