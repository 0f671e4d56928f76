import { Problem, path, request } from "./client";
import { isTerminal, type RunEvent } from "./events";
import { parseJson } from "./json";
import { pause, reached, waitAfter } from "./reach";

export interface RunListener {
  /** Gets the events that arrive within one frame together, so that the page renders once for all of them. */
  onEvents: (events: RunEvent[]) => void;
  /** The stream starts again after the last numbered event, so pieces of text since then come again. */
  onReconnect?: () => void;
  signal?: AbortSignal;
}

const HIDDEN_MS = 100;

/** Starts a run. Returns the stream of its events and the ids of run and thread. */
export async function begin(body: unknown, signal?: AbortSignal) {
  const headers = { "Content-Type": "application/json" };
  const response = await request("/chat/stream", { method: "POST", headers, body: JSON.stringify(body), signal });
  const named = (header: string) => response.headers.get(header) ?? "";
  return { response, run: named("X-Run-Id"), thread: named("X-Thread-Id") };
}

/**
 * Reads the events of a run to its end, from the event after `after` on. If the connection breaks, it connects again, for
 * as long as that takes: the run continues meanwhile, and the server sends the missed events.
 */
export async function follow(run: string, listener: RunListener, first?: Response, after = 0): Promise<void> {
  let response = first;
  let failures = 0;
  const batches = batchedByFrame(listener);
  for (;;) {
    try {
      response ??= await request(path`/runs/${run}/events`, {
        headers: { "Last-Event-ID": String(after) },
        signal: listener.signal,
      });
      for await (const batch of events(response)) {
        // A piece of text that is not stored yet has the number 0, so the stream cannot continue after it.
        const fresh = batch.filter((event) => event.seq === 0 || event.seq > after);
        if (!fresh.length) continue;
        after = Math.max(after, ...fresh.map((event) => event.seq));
        failures = 0;
        batches.add(fresh);
        if (fresh.some(isTerminal)) return await batches.rest();
      }
    } catch (error) {
      if (listener.signal?.aborted) return;
      if (error instanceof Problem && error.status < 500) throw error;
    }
    await batches.rest();
    listener.onReconnect?.();
    response = undefined;
    await reached();
    await pause(waitAfter(failures++));
  }
}

/**
 * Passes events on at most once per frame, and collects the events that arrive meanwhile. `answer.metadata` waits for the
 * first rows, which follow at once, so that an empty table is never drawn.
 */
function batchedByFrame({ onEvents, signal }: RunListener) {
  let held: RunEvent[] = [];
  let drawn = Promise.resolve();
  let drawing = false;

  function flush() {
    const batch = held;
    held = [];
    if (batch.length && !signal?.aborted) onEvents(batch);
  }

  async function draw() {
    drawing = true;
    while (held.length && held.at(-1)?.type !== "answer.metadata") {
      flush();
      await painted();
    }
    drawing = false;
  }

  return {
    add: (events: RunEvent[]) => {
      held.push(...events);
      if (!drawing) drawn = draw();
    },
    /** Passes on the events that are still waiting. */
    rest: () => drawn.then(flush),
  };
}

/** Resolves with the next frame, or after a short time if nothing is drawn, as in a background tab. */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, HIDDEN_MS);
    requestAnimationFrame(() => setTimeout(resolve));
  });
}

/** Parses Server-Sent Events: blocks of lines, separated by empty lines. Comments and other fields are skipped. */
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
    const texts = blocks.map(dataOf).filter(Boolean);
    if (texts.length) yield texts.map((data) => parseJson<RunEvent>(data));
  }
}

function dataOf(block: string): string {
  return block
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).replace(/^ /, ""))
    .join("\n");
}
