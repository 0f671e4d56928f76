import { expect, test } from "vitest";
import { isUnread, readAttributes, written } from "./attributes";

test("attributes are read as they are written", () => {
  const attributes = { city: ["Bergen", "Oslo"], team: ["north"] };
  expect(readAttributes(written(attributes))).toEqual(attributes);
  expect(readAttributes("")).toEqual({});
});

test("a value may hold a colon", () => {
  expect(readAttributes("page: https://example.org")).toEqual({ page: ["https://example.org"] });
});

test.each(["Bergen", ": Bergen", "city:", "city: a\ncity: b"])("%j is said to be unread", (text) => {
  const read = readAttributes(text);
  expect(isUnread(read) && read.unread).toBe(text.split("\n").pop());
});

test("an attribute that is called unread is one", () => {
  expect(isUnread(readAttributes("unread: yes"))).toBe(false);
});
