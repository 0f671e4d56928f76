import { api, path } from "../api/client";
import type { ThreadSummary } from "../api/types";
import { refresh } from "../shared/fetched";
import { dayGroup } from "../shared/format";
import { address, navigate } from "../shared/router";
import { toast } from "../shared/toasts";

export async function rename(thread: ThreadSummary, title: string): Promise<void> {
  await api.patch(path`/threads/${thread.thread_id}`, { title });
  refresh("/threads");
}

export async function pin(thread: ThreadSummary): Promise<void> {
  await api.patch(path`/threads/${thread.thread_id}`, { pinned: !thread.pinned });
  refresh("/threads");
}

export async function share(thread: string): Promise<void> {
  const { share_path: shared } = await api.post<ThreadSummary>(path`/threads/${thread}/share`);
  await navigator.clipboard.writeText(location.origin + (shared ?? address("ask", thread)));
  toast("Link copied. Anybody who can open this server can read the thread.");
  refresh("/threads");
}

/** Deletes a thread at once and offers to undo it, instead of asking first. */
export async function remove(thread: ThreadSummary, isOpen: boolean): Promise<void> {
  if (isOpen) navigate("/ask");
  await api.remove(path`/threads/${thread.thread_id}`);
  refresh("/threads");
  toast(`Deleted “${thread.title}”`, { action: { label: "Undo", run: () => void restore(thread, isOpen) } });
}

async function restore(thread: ThreadSummary, wasOpen: boolean): Promise<void> {
  await api.post(path`/threads/${thread.thread_id}/restore`);
  refresh("/threads");
  if (wasOpen) navigate(address("ask", thread.thread_id));
}

/** Groups threads: pinned ones first, then by day. Groups are in the order of their first thread. */
export function grouped(threads: readonly ThreadSummary[], now = new Date()): [string, ThreadSummary[]][] {
  const groups = new Map<string, ThreadSummary[]>();
  for (const thread of threads) {
    const name = thread.pinned ? "Pinned" : dayGroup(thread.updated_at, now);
    groups.set(name, [...(groups.get(name) ?? []), thread]);
  }
  return [...groups];
}
