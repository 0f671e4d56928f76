import { API, noAnswer, Problem, type ProblemDocument } from "./client";
import { parseJson } from "./json";

export interface Sending {
  onSent: (bytes: number) => void;
  signal: AbortSignal;
}

/** Posts a file and reports the progress, which `fetch` cannot do. Stopping it rejects with an `AbortError`. */
export function sendFile<T>(path: string, file: File, { onSent, signal }: Sending): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", API + path);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = (event) => onSent(event.loaded);
    request.onload = () =>
      request.status < 300 ? resolve(parseJson<T>(request.responseText)) : reject(refused(request));
    request.onerror = () => reject(noAnswer());
    request.onabort = () => reject(new DOMException("Stopped.", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

function refused({ status, responseText }: XMLHttpRequest): Problem {
  try {
    return new Problem({ status, ...(JSON.parse(responseText) as ProblemDocument) });
  } catch {
    return new Problem({ status, detail: `The server answered with status ${status}.`, code: `http_${status}` });
  }
}
