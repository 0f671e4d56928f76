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
  for await (const event of events(new Response(body))) heard.push(event.type);
  expect(heard).toEqual(["run.resumed"]);
});

it("keeps plain numbers as they are", () => {
  expect(parseJson("[1, 2.5, null]")).toEqual([1, 2.5, null]);
});
