import { expect, test } from "vitest";
import { found } from "./syncWords";

const CHANGES = { kind: "changes", rows: 9 };

test("a sync tells only what it found", () => {
  expect(found({ ...CHANGES, added: 1_200, changed: 0, removed: 2 })).toBe("1,200 added, 2 removed");
  expect(found({ ...CHANGES, added: 0, changed: 0, removed: 0 })).toBe("nothing new");
  expect(found({ kind: "full", rows: 561, added: 0, changed: 0, removed: 0 })).toBe("561 rows read");
  expect(found({ ...CHANGES, added: null, changed: null, removed: null })).toBe("");
});
