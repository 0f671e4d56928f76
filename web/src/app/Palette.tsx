import { MessageSquareText, Search } from "lucide-react";
import { Fragment, useMemo, useState } from "react";
import { query as params } from "../api/client";
import type { GraphList, SourceList, ThreadList } from "../api/types";
import { type Command, marked, matching, offered } from "../shared/commands";
import { Dialog } from "../shared/Dialog";
import { useFetched } from "../shared/fetched";
import { address, navigate } from "../shared/router";
import { useStore } from "../shared/store";

interface Props {
  commands: Command[];
  onAsk: (question: string) => void;
  onClose: () => void;
}

/** Finds commands, threads and runs by name, so that everything can be reached without a pointer. */
export function Palette({ commands, onAsk, onClose }: Props) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const found = useFound(typed, commands, onAsk);

  function run(command: Command | undefined) {
    if (!command) return;
    onClose();
    command.run();
  }

  function onKeyDown(event: React.KeyboardEvent) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Enter") run(found[at]);
    else if (step) setAt((now) => (now + step + found.length) % Math.max(1, found.length));
    else return;
    event.preventDefault();
  }

  return (
    <Dialog label="Commands" className="pal" onClose={onClose}>
      <div className="pi">
        <Search className="i" aria-hidden />
        <input
          autoFocus
          role="combobox"
          aria-label="Search or run a command"
          aria-expanded
          aria-controls="palette-list"
          aria-activedescendant={found[at] && `palette-${at}`}
          placeholder="Search or run a command"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <div className="pl" role="listbox" id="palette-list" aria-label="Commands">
        {found.map((command, i) => (
          <Fragment key={command.id}>
            {command.group !== found[i - 1]?.group && (
              <h3 className="label" role="presentation">
                {command.group}
              </h3>
            )}
            <Entry command={command} query={typed} id={`palette-${i}`} current={i === at} onRun={() => run(command)} />
          </Fragment>
        ))}
      </div>
      <div className="pf">
        <span>
          <kbd>↑</kbd>
          <kbd>↓</kbd> move
        </span>
        <span>
          <kbd>Enter</kbd> open
        </span>
      </div>
    </Dialog>
  );
}

function useFound(typed: string, commands: Command[], onAsk: (question: string) => void): Command[] {
  const threads = useFetched<ThreadList>(typed.trim() ? `/threads${params({ search: typed.trim(), limit: 5 })}` : null);
  const fromViews = useStore(offered);
  const places = usePlaces();
  return useMemo(() => {
    const ask: Command[] = typed.trim()
      ? [{ id: "ask", group: "Ask", label: `Ask “${typed.trim()}”`, run: () => onAsk(typed.trim()) }]
      : [];
    const talks = (typed.trim() && threads.data ? threads.data.threads : []).map(
      (thread): Command => ({
        id: thread.thread_id,
        group: "Threads",
        label: thread.title,
        note: thread.sources.join(", "),
        run: () => navigate(address("ask", thread.thread_id)),
      }),
    );
    const known = matching(
      [...Object.values(fromViews).flat(), ...commands, ...(typed.trim() ? places : [])],
      typed.trim(),
    );
    return [...ask, ...known, ...talks]; // results of the server arrive later; at the end they move no other row
  }, [typed, threads.data, fromViews, commands, places, onAsk]);
}

/** Each source and each stored graph, to go to by name. */
function usePlaces(): Command[] {
  const sources = useFetched<SourceList>("/sources").data?.sources;
  const graphs = useFetched<GraphList>("/graphs").data?.graphs;
  return useMemo(
    () => [
      ...(sources ?? []).flatMap(({ name }): Command[] => [
        { id: `source-${name}`, group: "Sources", label: name, run: () => navigate(address("sources", name)) },
        {
          id: `explore-${name}`,
          group: "Sources",
          label: `Explore ${name}`,
          run: () => navigate(address("sources", name, "+", "explore")),
        },
      ]),
      ...(graphs ?? []).map(
        ({ name }): Command => ({
          id: `graph-${name}`,
          group: "Graphs",
          label: name,
          run: () => navigate(address("graphs", name)),
        }),
      ),
    ],
    [sources, graphs],
  );
}

function Entry({
  command,
  query,
  id,
  current,
  onRun,
}: {
  command: Command;
  query: string;
  id: string;
  current: boolean;
  onRun: () => void;
}) {
  return (
    <div className={`pe ${current ? "cur" : ""}`} role="option" id={id} aria-selected={current} onClick={onRun}>
      <MessageSquareText className="i" aria-hidden />
      <span className="clip">
        {marked(command.label, query).map(([piece, hit], i) => (hit ? <mark key={i}>{piece}</mark> : piece))}
      </span>
      {command.note && <span className="dim clip grow">{command.note}</span>}
      {command.keys && (
        <span className="ks">
          {command.keys.map((key) => (
            <kbd key={key}>{key}</kbd>
          ))}
        </span>
      )}
    </div>
  );
}
