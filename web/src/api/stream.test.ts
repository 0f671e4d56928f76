import { expect, it, vi } from "vitest";
import { parseJson } from "./json";
import { events, follow } from "./stream";

it("reads events from pieces of any size, and skips comments", async () => {
  const text = ': hello\n\nid: 1\nevent: run.resumed\ndata: {"type":"run.resumed","run":"r","seq":1,"at":1}\n\n';
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream({
    start(controller) {
      for (let i = 0; i < bytes.length; i += 7) controller.enqueue(bytes.slice(i, i + 7));
      controller.close();
    },
  });
  const heard = [];
  for await (const some of events(new Response(body))) heard.push(...some.map((event) => event.type));
  expect(heard).toEqual(["run.resumed"]);
});

it("passes on events together that arrived together", async () => {
  const event = (seq: number) => `data: {"type":"run.resumed","run":"r","seq":${seq},"at":1}\n\n`;
  const heard = [];
  for await (const some of events(new Response(event(1) + event(2)))) heard.push(some.map(({ seq }) => seq));
  expect(heard).toEqual([[1, 2]]);
});

it("passes on the columns of an answer together with its first rows", async () => {
  vi.stubGlobal("requestAnimationFrame", (draw: () => void) => setTimeout(draw));
  const types = ["answer.metadata", "answer.batch", "run.finished"];
  const body = new ReadableStream({
    async start(controller) {
      for (const [i, type] of types.entries()) {
        controller.enqueue(new TextEncoder().encode(`data: {"type":"${type}","run":"r","seq":${i + 1},"at":1}\n\n`));
        await new Promise((next) => setTimeout(next));
      }
      controller.close();
    },
  });
  const told: string[][] = [];
  await follow("r", { onEvents: (some) => told.push(some.map(({ type }) => type)) }, new Response(body));
  expect(told).toEqual([["answer.metadata", "answer.batch"], ["run.finished"]]);
});

it("continues after the last numbered event when a connection breaks, and reports the reconnect", async () => {
  vi.stubGlobal("requestAnimationFrame", (draw: () => void) => setTimeout(draw));
  const frame = (seq: number, rest: string) => `data: {"run":"r","seq":${seq},"at":1,${rest}}\n\n`;
  const token = (seq: number, text: string) =>
    frame(seq, `"type":"step.output","node":"n","channel":"token","data":{"text":"${text}"}`);
  const asked: (string | null)[] = [];
  vi.stubGlobal("window", new EventTarget());
  vi.stubGlobal("fetch", (_: string, options?: RequestInit) => {
    if (options?.headers) asked.push(new Headers(options.headers).get("Last-Event-ID"));
    return Promise.resolve(new Response(token(4, "lo world") + frame(5, '"type":"run.finished","status":"done"')));
  });
  let text = "";
  let loose = "";
  await follow(
    "r",
    {
      onEvents: (some) => {
        for (const event of some) {
          if (event.type !== "step.output") continue;
          const piece = (event.data as { text: string }).text;
          loose = event.seq ? "" : loose + piece;
          text += piece;
        }
      },
      onReconnect: () => {
        text = text.slice(0, text.length - loose.length);
      },
    },
    new Response(token(3, "hel") + token(0, "lo") + token(0, " wor")),
  );
  expect(asked).toEqual(["3"]);
  expect(text).toBe("hello world");
});

it("keeps plain numbers as they are", () => {
  expect(parseJson("[1, 2.5, null]")).toEqual([1, 2.5, null]);
});
