import { Problem, path, request } from "./client";
import { isTerminal, type RunEvent } from "./events";
import { parseJson } from "./json";
import { pause, reached, waitAfter } from "./reach";

export interface Hearing {
  /** Events that arrive within one frame are passed on together, so that the page is drawn once for all of them. */
  onEvents: (events: RunEvent[]) => void;
  /** The stream begins anew after the last numbered event: pieces of text since then will come again. */
  onReconnect?: () => void;
  signal?: AbortSignal;
}

const HIDDEN_MS = 100;

/** Starts a run and gives its stream, with the names of run and thread. */
export async function begin(body: unknown, signal?: AbortSignal) {
  const headers = { "Content-Type": "application/json" };
  const response = await request("/chat/stream", { method: "POST", headers, body: JSON.stringify(body), signal });
  const named = (header: string) => response.headers.get(header) ?? "";
  return { response, run: named("X-Run-Id"), thread: named("X-Thread-Id") };
}

/**
 * Hears a run to its end, from the event after `after` on. A connection that breaks is made again for as long as it
 * takes: the run goes on without us, and the server tells what was missed.
 */
export async function follow(run: string, hearing: Hearing, first?: Response, after = 0): Promise<void> {
  let response = first;
  let failures = 0;
  const heard = gathered(hearing);
  for (;;) {
    try {
      response ??= await request(path`/runs/${run}/events`, {
        headers: { "Last-Event-ID": String(after) },
        signal: hearing.signal,
      });
      for await (const told of events(response)) {
        // A piece of text that is not stored yet has the number 0.
        const fresh = told.filter((event) => event.seq === 0 || event.seq > after);
        if (!fresh.length) continue;
        after = Math.max(after, ...fresh.map((event) => event.seq));
        failures = 0;
        heard.add(fresh);
        if (fresh.some(isTerminal)) return await heard.rest();
      }
    } catch (error) {
      if (hearing.signal?.aborted) return;
      if (error instanceof Problem && error.status < 500) throw error;
    }
    await heard.rest();
    hearing.onReconnect?.();
    response = undefined;
    await reached();
    await pause(waitAfter(failures++));
  }
}

/**
 * What was told is on the screen before more is told; what comes meanwhile is gathered. Columns are told with the first
 * rows, which follow them at once.
 */
function gathered({ onEvents, signal }: Hearing) {
  let held: RunEvent[] = [];
  let drawn = Promise.resolve();
  let drawing = false;

  function tell() {
    const told = held;
    held = [];
    if (told.length && !signal?.aborted) onEvents(told);
  }

  async function draw() {
    drawing = true;
    while (held.length && held.at(-1)?.type !== "answer.metadata") {
      tell();
      await painted();
    }
    drawing = false;
  }

  return {
    add: (events: RunEvent[]) => {
      held.push(...events);
      if (!drawing) drawn = draw();
    },
    /** Tells what is left. */
    rest: () => drawn.then(tell),
  };
}

/** Resolves with the next frame, or after a short time if nothing is drawn, as in a background tab. */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, HIDDEN_MS);
    requestAnimationFrame(() => setTimeout(resolve));
  });
}

/** Server-Sent Events: blocks of lines, parted by empty lines; comments and other fields are skipped. */
export async function* events(response: Response): AsyncGenerator<RunEvent[]> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    pending += value;
    const blocks = pending.split(/\r?\n\r?\n/);
    pending = blocks.pop() ?? "";
    const told = blocks.map(dataOf).filter(Boolean);
    if (told.length) yield told.map((data) => parseJson<RunEvent>(data));
  }
}

function dataOf(block: string): string {
  return block
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).replace(/^ /, ""))
    .join("\n");
}
