import { closeDoor } from "./door";
import { parseJson } from "./json";
import { reached } from "./reach";

export const API = "/api/v1";

export interface ProblemDocument {
  status?: number;
  detail?: string;
  hint?: string | null;
  code?: string;
  line?: number | null;
  column?: number | null;
}

/** An error reply of the server: a sentence for people and a stable code. */
export class Problem extends Error {
  readonly status: number;
  readonly hint: string | null;
  readonly code: string;
  readonly line: number | null;

  constructor(document: ProblemDocument) {
    super(document.detail ?? "The server gave no reason.");
    this.status = document.status ?? 0;
    this.hint = document.hint ?? null;
    this.code = document.code ?? "unknown";
    this.line = document.line ?? null;
  }
}

export function noAnswer(): Problem {
  return new Problem({
    status: 503,
    detail: "The server did not answer.",
    hint: "Is it still running?",
    code: "no_connection",
  });
}

export async function request(path: string, options: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(API + path, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    void reached();
    throw noAnswer();
  }
  if (response.ok) return response;
  const problem = new Problem({ status: response.status, ...(await problemOf(response)) });
  if (problem.code === "sign_in_required") closeDoor();
  throw problem;
}

async function problemOf(response: Response): Promise<ProblemDocument> {
  try {
    return (await response.json()) as ProblemDocument;
  } catch {
    return { detail: `The server answered with status ${response.status}.`, code: `http_${response.status}` };
  }
}

async function send<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const json =
    body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await request(path, { method, signal, ...json });
  return response.status === 204 ? (undefined as T) : parseJson<T>(await response.text());
}

export const api = {
  get: <T>(path: string, signal?: AbortSignal) => send<T>("GET", path, undefined, signal),
  post: <T>(path: string, body?: unknown) => send<T>("POST", path, body),
  put: <T>(path: string, body: unknown) => send<T>("PUT", path, body),
  patch: <T>(path: string, body: unknown) => send<T>("PATCH", path, body),
  remove: (path: string) => send<void>("DELETE", path),
};

/** Builds a path from parts that come from data. */
export function path(strings: TemplateStringsArray, ...parts: (string | number)[]): string {
  return strings.reduce((whole, piece, i) => whole + encodeURIComponent(String(parts[i - 1])) + piece);
}

/** Builds `?a=1&b=2&b=3` and leaves out empty values. */
export function query(
  values: Record<string, string | number | boolean | null | undefined | readonly string[]>,
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    const many = Array.isArray(value) ? (value as readonly string[]) : [value];
    for (const one of many) if (one !== null && one !== undefined && one !== "") search.append(name, String(one));
  }
  const text = search.toString();
  return text && `?${text}`;
}
