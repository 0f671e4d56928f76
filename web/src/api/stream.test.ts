import { expect, it } from "vitest";
import { events } from "./stream";
import { parseJson } from "./json";

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

it("keeps plain numbers as they are", () => {
  expect(parseJson("[1, 2.5, null]")).toEqual([1, 2.5, null]);
});
