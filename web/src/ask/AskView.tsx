import { Ellipsis, GitFork, Link as LinkIcon } from "lucide-react";
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { path } from "../api/client";
import type { SourceList, ThreadSummary } from "../api/types";
import { newest } from "../data/upload";
import type { LitCell } from "../result/litCell";
import { ResultPane, type ResultTab } from "../result/ResultPane";
import {
  ask,
  changePlan,
  conversationOf,
  conversations,
  DRAFT,
  fork,
  open,
  startOver,
  stop,
  type Turn,
  undoChange,
} from "../run/conversations";
import { isOver, isReading } from "../run/run";
import { replay } from "../run/verdicts";
import { offer } from "../shared/commands";
import { useFetched } from "../shared/fetched";
import { useKeys } from "../shared/keys";
import { Menu } from "../shared/Menu";
import { ProblemNotice } from "../shared/Notice";
import { useRemembered } from "../shared/remembered";
import { address, navigate } from "../shared/router";
import { Splitter } from "../shared/Splitter";
import { useStore } from "../shared/store";
import { toast } from "../shared/toasts";
import { Composer } from "./Composer";
import { lastChosen, rememberChosen } from "./lastChosen";
import { offeredChoices } from "./offeredChoices";
import { remembering, rememberSynonym } from "./remembering";
import { Threads } from "./Threads";
import { Turns } from "./Turns";
import type { TurnActions } from "./TurnView";
import { share } from "./threads";
import { Welcome } from "./Welcome";

const SKELETON_AFTER_MS = 150;
const READING_MS = 1_000;

export function AskView({ thread, drawer }: { thread: string | null; drawer: boolean }) {
  const key = thread ?? DRAFT;
  const conversation = conversationOf(useStore(conversations), key);
  const { turns } = conversation;
  const { names, chosen, setChosen, source, broken } = useSources(key, turns.at(-1)?.sources);
  const [watched, setWatched] = useState<string | null>(null);
  const [editing, setEditing] = useState<string | null>(null);
  const [tab, setTab] = useState<ResultTab>("table");
  const [lit, setLit] = useState<LitCell | null>(null);
  const [full, setFull] = useState(false);
  const [paneOpen, setPaneOpen] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const [resultWidth, setResultWidth] = useRemembered("result-width", 640);

  useEffect(() => {
    if (thread) void open(thread);
    setWatched(null);
    setEditing(null);
    return () => {
      if (thread) setPaneOpen(false); // the rows of another thread are not what the user opened
    };
  }, [thread]);

  const send = useCallback(
    (question: string, choice: number | null = null, at = key, sources = chosen) => {
      setWatched(null);
      void ask(at, { message: question, sources, choice }, (created) => {
        if (at === DRAFT && location.pathname === "/ask") navigate(address("ask", created), { replace: true });
        if (at === DRAFT && location.pathname === "/") navigate(address("ask", created), { replace: true });
      });
    },
    [key, chosen],
  );

  const reading = useLasting(turns.length > 0 && isReading(turns.at(-1)!.run), SKELETON_AFTER_MS);
  const shown = shownTurn(turns, watched, reading);
  // Deferred, so that the rows are drawn before the text of the conversation.
  const deferredTurns = useDeferredValue(turns);
  const actions = useMemo<TurnActions>(() => {
    const show = (turn: Turn, shownTab: ResultTab) => {
      setWatched(turn.key);
      setTab(shownTab);
      setPaneOpen(true);
    };
    return {
      stop: (turn) => void stop(key, turn),
      choose: (turn, choice) => {
        const { synonym, source } = turn.run.answer?.choices.find((known) => known.id === choice) ?? {};
        if (remembering.get() && synonym && turn.sources.length === 1) void rememberSynonym(turn.sources[0]!, synonym);
        if (source) setChosen([source]);
        send(turn.question, choice, key, source ? [source] : chosen);
      },
      ask: (question) => send(question),
      again: (turn) => send(turn.question, turn.choice),
      change: (turn, changes) => void changePlan(key, turn, changes),
      undo: (turn) => void undoChange(key, turn),
      editAndAsk: (turn, text) => {
        setEditing(null);
        if (!thread || !turn.messageId) return send(text);
        return void fork(thread, turn.messageId, false).then((created) => {
          navigate(address("ask", created));
          send(text, null, created);
        });
      },
      fork: (turn) => {
        if (!thread || !turn.messageId) return;
        void fork(thread, turn.messageId, true).then((created) => {
          navigate(address("ask", created));
          toast("This is a copy of the thread up to here.");
        });
      },
      show,
      showCell: (turn, row, column) => {
        show(turn, "table");
        setLit({ row, column });
      },
    };
  }, [key, thread, chosen, setChosen, send]);

  const close = () => {
    setPaneOpen(false);
    setFull(false);
  };
  // A person who opens the page wants to ask. On a touch screen the keyboard would hide half of it.
  useEffect(() => {
    if (matchMedia("(hover: hover)").matches) field.current?.focus({ preventScroll: true });
  }, []);
  const startNew = useCallback(() => {
    startOver();
    navigate("/ask");
    requestAnimationFrame(() => field.current?.focus());
  }, []);
  useAskKeys({
    turns,
    shown,
    actions,
    openTab: (wanted) => {
      setTab(wanted);
      setPaneOpen(true);
    },
    field,
    startNew,
    setWatched,
    close,
  });
  useEffect(
    () =>
      offer("ask", [
        { id: "new", group: "Commands", label: "New question", keys: ["N"], run: startNew },
        ...(shown?.run.answer
          ? [
              {
                id: "replay",
                group: "Commands",
                label: "Replay this answer",
                keys: ["R"],
                run: () => void replay(shown.run.answer!.run_id),
              },
            ]
          : []),
      ]),
    [shown, startNew],
  );

  const hasResult = Boolean(
    paneOpen && shown && (shown.run.columns.length || shown.run.answer?.columns.length || !isOver(shown.run)),
  );
  const className = [
    "ask",
    hasResult ? "" : "no-result",
    full ? "full" : "",
    hasResult ? "show-result" : "",
    drawer ? "drawer" : "",
  ].join(" ");
  return (
    <main className={className}>
      <Threads current={thread} onNew={startNew} />
      <section className="pane conv" aria-label="Conversation">
        <ConversationHead thread={thread} turns={turns} onFork={() => turns.at(-1) && actions.fork(turns.at(-1)!)} />
        {conversation.problem && (
          <ProblemNotice problem={conversation.problem} onRetry={() => thread && void open(thread)} />
        )}
        {turns.length ? (
          <Turns turns={deferredTurns} actions={actions} editing={editing} onEdit={setEditing} />
        ) : (
          <div className="scroll">
            {!conversation.loading && !conversation.problem && <Welcome source={source} broken={broken} onAsk={send} />}
          </div>
        )}
        <Composer
          field={field}
          placeholder={placeholder(turns)}
          sources={names}
          chosen={chosen}
          onChosen={setChosen}
          onAsk={(question) => send(question)}
          onDigit={(digit) => {
            const last = turns.at(-1);
            const choice = last?.run.answer && offeredChoices(last.run.answer)[digit - 1];
            if (!last || !choice) return false;
            actions.choose(last, choice.id);
            return true;
          }}
          onEditLast={turns.at(-1)?.messageId ? () => setEditing(turns.at(-1)?.key ?? null) : undefined}
        />
      </section>
      {hasResult && shown && (
        <>
          <Splitter
            label="Width of the result"
            value={resultWidth}
            min={380}
            max={1100}
            direction={-1}
            onChange={setResultWidth}
          />
          <ResultPane
            key={shown.run.id ?? shown.key}
            run={shown.run}
            question={shown.question}
            tab={tab}
            onTab={setTab}
            lit={lit}
            width={resultWidth}
            full={full}
            onFull={() => setFull(!full)}
            onBack={close}
          />
        </>
      )}
    </main>
  );
}

/** The turn whose result is shown: the selected one, else the newest with rows, else the one whose rows are being read. */
function shownTurn(turns: Turn[], watched: string | null, reading: boolean): Turn | null {
  const withResult = turns.filter((turn) => turn.run.columns.length > 0 || turn.run.answer?.columns.length);
  return turns.find((turn) => turn.key === watched) ?? withResult.at(-1) ?? (reading ? (turns.at(-1) ?? null) : null);
}

/** Whether the condition has been true for a while. */
function useLasting(now: boolean, milliseconds: number): boolean {
  const [lasting, setLasting] = useState(false);
  useEffect(() => {
    setLasting(false);
    const timer = setTimeout(() => setLasting(now), milliseconds);
    return () => clearTimeout(timer);
  }, [now, milliseconds]);
  return now && lasting;
}

function placeholder(turns: Turn[]): string {
  const last = turns.at(-1);
  if (!last) return "Ask a question";
  const { answer } = last.run;
  if (answer?.kind !== "clarify") return "Ask a follow-up";
  return answer.choices.length ? "Answer above, or ask something else" : "Ask in other words";
}

/** The sources, and those that the next question goes to: picked here, else those of the thread, else the last ones. */
function useSources(key: string, ofThread: string[] | undefined) {
  const list = useFetched<SourceList>("/sources");
  const names = useMemo(() => (list.data?.sources ?? []).map((source) => source.name), [list.data]);
  const added = useStore(newest);
  const known = list.data?.sources ?? [];
  const usual = known.find((source) => source.default)?.name ?? names[0];
  const last = useStore(lastChosen);
  const [picked, setPicked] = useState<{ at: string; sources: string[] } | null>(null);
  const setChosen = useCallback(
    (sources: string[]) => {
      setPicked({ at: key, sources });
      rememberChosen(sources);
    },
    [key],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: a source is chosen once, when it was added.
  useEffect(() => {
    if (added) setChosen([added]);
  }, [added]);
  const reading = known.some((source) => source.state === "reading");
  const { reload } = list;
  useEffect(() => {
    if (!reading) return undefined;
    const timer = setInterval(reload, READING_MS);
    return () => clearInterval(timer);
  }, [reading, reload]);
  const chosen = useMemo(() => {
    const known = (some: readonly string[] | undefined) => some?.filter((name) => names.includes(name)) ?? [];
    const ways = [picked?.at === key ? picked.sources : [], ofThread, last, usual ? [usual] : []];
    return ways.map(known).find((some) => some.length > 0) ?? [];
  }, [picked, key, ofThread, last, usual, names]);
  return {
    names,
    chosen,
    setChosen,
    source: known.find((source) => source.name === chosen[0]) ?? null,
    broken: known.filter((source) => source.state === "failed"),
  };
}

function ConversationHead({ thread, turns, onFork }: { thread: string | null; turns: Turn[]; onFork: () => void }) {
  const summary = useFetched<ThreadSummary>(thread ? path`/threads/${thread}` : null);
  const title = summary.data?.title ?? turns[0]?.question ?? "New question";
  return (
    <div className="head">
      <h2 className="clip grow">{title}</h2>
      {thread && (
        <>
          <button type="button" className="btn ghost small hide-s" onClick={() => void share(thread)}>
            <LinkIcon className="i i-s" aria-hidden />
            Share
          </button>
          <Menu
            label="More"
            className="btn ghost icon small"
            items={[
              { label: "Copy link", icon: <LinkIcon className="i i-s" />, onSelect: () => void share(thread) },
              { label: "Fork from here", icon: <GitFork className="i i-s" />, onSelect: onFork },
            ]}
          >
            <Ellipsis className="i" aria-hidden />
          </Menu>
        </>
      )}
    </div>
  );
}

interface AskKeys {
  turns: Turn[];
  shown: Turn | null;
  actions: TurnActions;
  openTab: (tab: ResultTab) => void;
  setWatched: (key: string) => void;
  field: React.RefObject<HTMLTextAreaElement | null>;
  startNew: () => void;
  close: () => void;
}

function useAskKeys({ turns, shown, actions, openTab, setWatched, field, startNew, close }: AskKeys): void {
  const last = turns.at(-1);
  const step = (by: number) => {
    const answered = turns.filter((turn) => turn.run.answer?.columns.length);
    const next = answered[answered.findIndex((turn) => turn.key === shown?.key) + by];
    if (next) setWatched(next.key);
  };
  const choices = last?.run.answer ? offeredChoices(last.run.answer) : [];
  const pick = Object.fromEntries(
    choices.map((choice, i) => [String(i + 1), () => last && actions.choose(last, choice.id)]),
  );
  useKeys({
    "/": () => field.current?.focus(),
    n: startNew,
    t: () => openTab("table"),
    c: () => openTab("chart"),
    v: () => openTab("check"),
    r: () => shown?.run.answer && void replay(shown.run.answer.run_id),
    d: () => document.querySelector<HTMLElement>(".download button")?.click(),
    j: () => step(1),
    k: () => step(-1),
    "mod+.": () => last && !isOver(last.run) && actions.stop(last),
    escape: close,
    ...pick,
  });
}
