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

it("gives events together that came together", async () => {
  const event = (seq: number) => `data: {"type":"run.resumed","run":"r","seq":${seq},"at":1}\n\n`;
  const heard = [];
  for await (const some of events(new Response(event(1) + event(2)))) heard.push(some.map(({ seq }) => seq));
  expect(heard).toEqual([[1, 2]]);
});

it("tells an answer's columns together with its first rows", async () => {
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

it("keeps plain numbers as they are", () => {
  expect(parseJson("[1, 2.5, null]")).toEqual([1, 2.5, null]);
});
