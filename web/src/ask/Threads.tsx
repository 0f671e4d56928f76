import { Ellipsis, Link as LinkIcon, Pencil, Pin, PinOff, Plus, Trash2 } from "lucide-react";
import { memo, useState } from "react";
import { query } from "../api/client";
import type { ThreadList, ThreadSummary } from "../api/types";
import { SearchField } from "../shared/Field";
import { useFetched, useSteady } from "../shared/fetched";
import { moment } from "../shared/format";
import { Link } from "../shared/Link";
import { Menu } from "../shared/Menu";
import { ProblemNotice } from "../shared/Notice";
import { address } from "../shared/router";
import { runState, StateIcon, toneOf } from "../shared/Status";
import { grouped, pin, remove, rename, share } from "./threads";

export const Threads = memo(function Threads({ current, onNew }: { current: string | null; onNew: () => void }) {
  const [search, setSearch] = useState("");
  const threads = useSteady(useFetched<ThreadList>(`/threads${query({ search: search.trim(), limit: 100 })}`));
  const found = threads.data?.threads ?? [];
  return (
    <aside className="pane side threads" aria-label="Threads">
      <div className="head">
        <button type="button" className="btn grow new" onClick={onNew}>
          <Plus className="i" aria-hidden />
          New question<kbd>N</kbd>
        </button>
      </div>
      <div className="find">
        <SearchField label="Find a thread" value={search} onChange={setSearch} />
      </div>
      <div className="scroll">
        {threads.problem && !threads.data && <ProblemNotice problem={threads.problem} onRetry={threads.reload} />}
        {grouped(found).map(([name, group]) => (
          <section key={name}>
            <h2 className="label">{name}</h2>
            <ul>
              {group.map((thread) => (
                <ThreadRow key={thread.thread_id} thread={thread} current={thread.thread_id === current} />
              ))}
            </ul>
          </section>
        ))}
        {threads.data && !found.length && (
          <p className="none dim caption">
            {search ? "No thread has these words." : "Your questions will appear here."}
          </p>
        )}
      </div>
    </aside>
  );
});

function ThreadRow({ thread, current }: { thread: ThreadSummary; current: boolean }) {
  const [renaming, setRenaming] = useState(false);
  if (renaming) {
    return (
      <li>
        <RenameField
          title={thread.title}
          onDone={(title) => {
            setRenaming(false);
            if (title && title !== thread.title) void rename(thread, title);
          }}
        />
      </li>
    );
  }
  return (
    <li className={`thread ${current ? "cur" : ""}`}>
      <Link href={address("ask", thread.thread_id)} aria-current={current ? "true" : undefined}>
        <span className="t clip">{thread.title}</span>
        <ThreadState thread={thread} />
        <span className="m clip">{thread.excerpt ?? about(thread)}</span>
      </Link>
      <Menu
        label={`Actions for ${thread.title}`}
        className="btn ghost icon small"
        items={[
          {
            label: thread.pinned ? "Unpin" : "Pin",
            icon: thread.pinned ? <PinOff className="i i-s" /> : <Pin className="i i-s" />,
            onSelect: () => void pin(thread),
          },
          { label: "Rename", icon: <Pencil className="i i-s" />, onSelect: () => setRenaming(true) },
          { label: "Copy link", icon: <LinkIcon className="i i-s" />, onSelect: () => void share(thread.thread_id) },
          {
            label: "Delete",
            icon: <Trash2 className="i i-s" />,
            danger: true,
            onSelect: () => void remove(thread, current),
          },
        ]}
      >
        <Ellipsis className="i i-s" aria-hidden />
      </Menu>
    </li>
  );
}

function RenameField({ title, onDone }: { title: string; onDone: (title: string) => void }) {
  const [draft, setDraft] = useState(title);
  return (
    <input
      className="rename"
      autoFocus
      aria-label="Name of the thread"
      maxLength={200}
      value={draft}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={() => onDone(draft.trim())}
      onKeyDown={(event) => {
        if (event.key === "Enter") onDone(draft.trim());
        if (event.key === "Escape") onDone(title);
      }}
    />
  );
}

function ThreadState({ thread }: { thread: ThreadSummary }) {
  const [state, word] = runState(thread.last_status ?? "", thread.last_kind);
  if (state !== "running" && state !== "waiting" && state !== "error") return null;
  return (
    <span className={`s ${toneOf(state)}`} title={word}>
      <StateIcon state={state} />
      <span className="vh">{word}</span>
    </span>
  );
}

function about(thread: ThreadSummary): string {
  const [state, word] = runState(thread.last_status ?? "", thread.last_kind);
  const when = state === "running" || state === "waiting" ? word.toLowerCase() : moment(thread.updated_at);
  return [thread.sources.join(", "), when].filter(Boolean).join(" · ");
}
