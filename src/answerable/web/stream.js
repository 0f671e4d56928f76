// The API: questions as streams of events that survive a broken connection, and the rows of answers.

const API = "/api/v1";
const RETRIES = [500, 1000, 2000, 4000, 8000, 8000, 8000];
const TERMINAL = new Set(["run.finished", "run.failed", "run.cancelled"]);

export class Problem extends Error {
  constructor({ detail, hint, code, status } = {}) {
    super(detail || "The server gave no reason.");
    Object.assign(this, { hint, code, status });
  }
}

// Asks, and calls `onEvent` for each event until the run has ended. `onState` hears "live", "lost" (with the wait in ms).
export async function ask(body, { onStart, onEvent, onState = () => {}, signal }) {
  const response = await request("/chat/stream", { method: "POST", body: JSON.stringify(body), signal });
  const run = response.headers.get("X-Run-Id");
  onStart({ run, thread: response.headers.get("X-Thread-Id") });
  await follow(run, { response, onEvent, onState, signal });
}

// Follows a run from the event after `after` on. With a `response`, that stream is read first.
export async function follow(run, { response = null, after = 0, onEvent, onState = () => {}, signal }) {
  let failures = 0;
  for (;;) {
    try {
      response ??= await request(`/runs/${encodeURIComponent(run)}/events`, { headers: { "Last-Event-ID": String(after) }, signal });
      onState("live");
      for await (const event of events(response)) {
        if (event.seq <= after) continue;
        after = event.seq;
        run ??= event.run;
        failures = 0;
        onEvent(event);
        if (TERMINAL.has(event.type)) return;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof Problem && error.status < 500) throw error;
    }
    response = null;
    if (!run || failures >= RETRIES.length) throw new Problem({ detail: "The connection to the server was lost.", hint: "The run goes on. Reload the page to see it.", code: "connection_lost" });
    const wait = RETRIES[failures++];
    onState("lost", wait);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

export async function getJson(path) {
  return parse(await (await request(path)).text());
}

export async function cancel(run) {
  await request(`/runs/${encodeURIComponent(run)}/cancel`, { method: "POST" });
}

export function rowsAddress(run, format) {
  return `${API}/runs/${encodeURIComponent(run)}/rows?format=${format}`;
}

async function request(path, { headers = {}, ...options } = {}) {
  const type = options.body ? { "Content-Type": "application/json" } : {};
  let response;
  try {
    response = await fetch(API + path, { ...options, headers: { ...type, ...headers } });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Problem({ detail: "The server did not answer.", hint: "Is it still running?", code: "no_connection", status: 503 });
  }
  if (!response.ok) throw new Problem({ status: response.status, ...(await problemOf(response)) });
  return response;
}

async function problemOf(response) {
  try {
    return await response.json();
  } catch {
    return { detail: `The server answered with status ${response.status}.` };
  }
}

// Server-Sent Events: blocks of lines, parted by empty lines. Comments and unknown fields are skipped, as the standard says.
export async function* events(response) {
  let pending = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    pending += value;
    const blocks = pending.split(/\r?\n\r?\n/);
    pending = blocks.pop();
    for (const block of blocks) {
      const data = block.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).replace(/^ /, ""));
      if (data.length) yield parse(data.join("\n"));
    }
  }
}

// Whole numbers beyond 2^53 keep their digits where the browser shows us the source text.
export function parse(text) {
  return JSON.parse(text, (_, value, context) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "") ? BigInt(context.source) : value);
}
