import { api, Problem, path } from "../api/client";
import type { RunEvent } from "../api/events";
import { reach } from "../api/reach";
import { begin, follow, type RunListener } from "../api/stream";
import type { MessageList, MessageView, PlanChange, ThreadSummary } from "../api/types";
import { refresh } from "../shared/fetched";
import { say } from "../shared/live";
import { createStore } from "../shared/store";
import { toast } from "../shared/toasts";
import { fold, isOver, NEW_RUN, type RunView, recalled, reconnected, shownSteps } from "./run";
import { stepKinds } from "./stepKinds";

export interface Turn {
  key: string;
  question: string;
  messageId: string | null;
  choice: number | null;
  sources: string[];
  run: RunView;
  /** The runs whose answers this one took the place of, the first one first: their plans were changed by the user. */
  former: RunView[];
  /** Whether a changed plan is running. The answer stays until it has one. */
  changing: boolean;
  stopping: boolean;
}

export interface Conversation {
  thread: string | null;
  turns: Turn[];
  loading: boolean;
  problem: Problem | null;
}

export interface QuestionRequest {
  message: string;
  sources?: string[];
  choice?: number | null;
}

/** Key of the conversation that has no thread yet. */
export const DRAFT = "draft";
const EMPTY: Conversation = { thread: null, turns: [], loading: false, problem: null };

export const conversations = createStore<Record<string, Conversation>>({});

export function conversationOf(all: Record<string, Conversation>, key: string): Conversation {
  return all[key] ?? EMPTY;
}

export function startOver(): void {
  change(DRAFT, () => EMPTY);
}

/** Asks in a thread, or in a new one; `onThread` receives its id. Resolves when the run has ended. */
export async function ask(key: string, question: QuestionRequest, onThread: (thread: string) => void): Promise<void> {
  const turn = newTurn(question);
  change(key, (now) => ({ ...now, turns: [...now.turns, turn] }));
  const sources = question.sources ?? [];
  const thread = key === DRAFT ? null : key;
  const named = sources.length > 1 ? { sources } : { source: sources[0] ?? null };
  const body = { message: question.message, thread_id: thread, choice: question.choice ?? null, ...named };
  let home = key;
  try {
    const begun = await begin(body);
    home = settle(key, begun.thread);
    onThread(home);
    changeTurn(home, turn.key, (now) => ({ ...now, run: { ...now.run, id: begun.run } }));
    const known = conversationOf(conversations.get(), home).turns.find(({ key: other }) => other === turn.key);
    if (known?.stopping) void stop(home, known);
    announce(home);
    refresh("/threads");
    await follow(begun.run, listenerFor(home, turn.key), begun.response);
  } catch (error) {
    broken(home, turn.key, error);
  }
  refresh("/threads");
  announce(home);
  await nameMessages(home);
}

/** Loads a thread from the server, and follows its runs that have not ended. */
export async function open(thread: string): Promise<void> {
  const known = conversations.get()[thread];
  if (!known) change(thread, () => ({ ...EMPTY, thread, loading: true }));
  try {
    const { messages } = await api.get<MessageList>(path`/threads/${thread}/messages` + "?answers=true");
    change(thread, (now) => ({ ...now, thread, loading: false, problem: null, turns: merged(now.turns, messages) }));
    for (const turn of conversationOf(conversations.get(), thread).turns) void catchUp(thread, turn);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    change(thread, (now) => ({ ...now, loading: false, problem: error }));
  }
}

/** Cancels the run of a turn. If the run has no id yet, it is cancelled as soon as it has one. */
export async function stop(key: string, turn: Turn): Promise<void> {
  changeTurn(key, turn.key, (now) => ({ ...now, stopping: true }));
  if (turn.run.id) await api.post(path`/runs/${turn.run.id}/cancel`);
}

/** Runs the plan of an answer with changes. Its answer takes the place of the one that the turn shows. */
export async function changePlan(key: string, turn: Turn, changes: PlanChange[]): Promise<void> {
  await replaced(key, turn, turn.run, changes, [...turn.former, turn.run]);
}

/** Runs the former plan once more, so that follow-ups go on from it too. */
export async function undoChange(key: string, turn: Turn): Promise<void> {
  const before = turn.former.at(-1);
  if (before) await replaced(key, turn, before, [], turn.former.slice(0, -1));
}

async function replaced(key: string, turn: Turn, from: RunView, changes: PlanChange[], former: RunView[]) {
  changeTurn(key, turn.key, (now) => ({ ...now, changing: true }));
  let run: RunView = NEW_RUN;
  try {
    const begun = await api.post<{ run_id: string }>(path`/runs/${from.id ?? ""}/changes`, { changes });
    followed.add(begun.run_id);
    await follow(begun.run_id, {
      onEvents: (events) => {
        run = events.reduce(foldAndAnnounce, run);
      },
      onReconnect: () => {
        run = reconnected(run);
      },
    });
    if (!run.answer) throw new Problem({ detail: run.error?.message, code: run.error?.code });
    changeTurn(key, turn.key, (now) => ({ ...now, run, former, changing: false }));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    changeTurn(key, turn.key, (now) => ({ ...now, changing: false }));
    toast(error.message, { state: "error" });
  }
  announce(key);
}

export async function decide(turn: Turn, step: string, approved: boolean): Promise<void> {
  if (turn.run.id) await api.post(path`/runs/${turn.run.id}/approvals`, { step, approved });
}

/** Makes a new thread with everything up to this question, or up to the one before if this question is to be rephrased. */
export async function fork(thread: string, messageId: string, include: boolean): Promise<string> {
  const forked = await api.post<ThreadSummary>(path`/threads/${thread}/fork`, { message_id: messageId, include });
  refresh("/threads");
  return forked.thread_id;
}

// Tell other tabs about new questions, so that they reload.

const channel = new BroadcastChannel("answerable");

function announce(thread: string): void {
  channel.postMessage(thread);
}

channel.addEventListener("message", ({ data }: MessageEvent<string>) => {
  refresh("/threads");
  if (conversations.get()[data]) void open(data);
});

reach.subscribe(() => {
  if (reach.get().state !== "live") return;
  for (const [thread, { problem }] of Object.entries(conversations.get())) if (problem) void open(thread);
});

// Following the events of runs

const followed = new Set<string>();

async function catchUp(key: string, turn: Turn): Promise<void> {
  const run = turn.run.id;
  if (!run || isOver(turn.run) || followed.has(run)) return;
  try {
    await follow(run, listenerFor(key, turn.key));
  } catch (error) {
    broken(key, turn.key, error);
  }
  refresh("/threads");
}

function listenerFor(key: string, turn: string): RunListener {
  return {
    onEvents: (events) => {
      for (const event of events) followed.add(event.run);
      changeTurn(key, turn, (now) => ({ ...now, run: events.reduce(foldAndAnnounce, now.run) }));
    },
    onReconnect: () => changeTurn(key, turn, (now) => ({ ...now, run: reconnected(now.run) })),
  };
}

function foldAndAnnounce(before: RunView, event: RunEvent): RunView {
  const after = fold(before, event);
  announceStep(before, after, event);
  return after;
}

function announceStep(before: RunView, after: RunView, event: RunEvent): void {
  if (event.type === "answer.final") say(event.answer.text);
  if (event.type === "run.failed") say(event.message);
  if (event.type !== "step.started" && event.type !== "step.failed") return;
  const step = shownSteps(after.steps, stepKinds.get()).find((known) => known.id === event.node);
  const same = before.steps.find((known) => known.id === event.node)?.state === step?.state;
  if (step && !same) say(`${step.name}: ${event.type === "step.failed" ? "failed" : "started"}`);
}

function broken(key: string, turn: string, error: unknown): void {
  if (!(error instanceof Problem)) throw error;
  say(error.message);
  changeTurn(key, turn, (now) => ({ ...now, run: { ...now.run, phase: "failed", error } }));
}

// The list of turns

let turnCount = 0;

function newTurn(question: QuestionRequest): Turn {
  return {
    key: `turn-${++turnCount}`,
    question: question.message,
    messageId: null,
    choice: question.choice ?? null,
    sources: question.sources ?? [],
    run: NEW_RUN,
    former: [],
    changing: false,
    stopping: false,
  };
}

/** The server's questions in order. Runs that the page already knows are kept, so that nothing flickers. */
export function merged(turns: Turn[], messages: MessageView[]): Turn[] {
  const answers = new Map(messages.filter((m) => m.answer).map((m) => [m.run_id, m.answer]));
  const byRun = new Map(turns.map((turn) => [turn.run.id, turn]));
  const stored: Turn[] = [];
  for (const message of messages.filter((each) => each.role === "user" && each.run_id)) {
    const known = byRun.get(message.run_id);
    const answer = answers.get(message.run_id);
    const turn: Turn = known ?? {
      ...newTurn({ message: message.content, sources: message.run?.sources ?? [] }),
      key: message.message_id,
      run: answer ? recalled(answer, message.run?.duration_ms ?? null) : { ...NEW_RUN, id: message.run_id },
    };
    const last = stored.at(-1);
    if (message.run?.mode === CHANGED && last?.question === turn.question) {
      // A run that failed has no answer to take the place of the former one.
      if (known || answer) stored[stored.length - 1] = { ...last, ...inPlaceOf(last, turn) };
    } else stored.push({ ...turn, messageId: message.message_id });
  }
  const unknown = turns.filter((turn) => !turn.run.id || !isStored(turn.run.id, stored));
  return [...stored, ...unknown];
}

/** The mode of runs whose plan the user changed. */
const CHANGED = "changed";

/** What a turn has of a changed run. What the page knows already is kept, so that nothing is lost by a reload. */
function inPlaceOf(last: Turn, changed: Turn): Pick<Turn, "run" | "former" | "changing" | "key"> {
  const former = changed.former.length ? changed.former : [...last.former, last.run];
  const isKnown = changed.former.length > 0;
  return { run: changed.run, former, changing: changed.changing, key: isKnown ? changed.key : last.key };
}

function isStored(run: string, stored: Turn[]): boolean {
  return stored.some((turn) => turn.run.id === run || turn.former.some((before) => before.id === run));
}

async function nameMessages(key: string): Promise<void> {
  if (key === DRAFT) return;
  try {
    const { messages } = await api.get<MessageList>(path`/threads/${key}/messages`);
    change(key, (now) => ({ ...now, turns: merged(now.turns, messages) }));
  } catch (error) {
    if (!(error instanceof Problem)) throw error; // only forking and editing need the ids, and both report the problem themselves
  }
}

function settle(key: string, thread: string): string {
  if (key !== DRAFT || !thread) return key;
  const draft = conversationOf(conversations.get(), DRAFT);
  conversations.set(({ [DRAFT]: _, ...rest }) => ({ ...rest, [thread]: { ...draft, thread } }));
  return thread;
}

function change(key: string, update: (now: Conversation) => Conversation): void {
  conversations.set((all) => ({ ...all, [key]: update(conversationOf(all, key)) }));
}

function changeTurn(key: string, turn: string, update: (now: Turn) => Turn): void {
  change(key, (now) => ({ ...now, turns: now.turns.map((known) => (known.key === turn ? update(known) : known)) }));
}
