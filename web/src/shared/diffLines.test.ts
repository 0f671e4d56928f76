import { expect, test } from "vitest";
import { diffLines } from "./diffLines";

test("a unified diff is lines with signs", () => {
  const text = "--- before\n+++ after\n@@ -1,2 +1,2 @@\n SELECT\n-  1\n+  2\n@@ -9 +9 @@\n-x";
  expect(diffLines(text)).toEqual([
    [" ", "SELECT"],
    ["-", "  1"],
    ["+", "  2"],
    ["…", ""],
    ["-", "x"],
  ]);
});

test("an SQL comment is not taken for a header line", () => {
  expect(diffLines("--- before\n+++ after\n@@ -1 +1 @@\n--- old\n+++ new")).toEqual([
    ["-", "-- old"],
    ["+", "++ new"],
  ]);
});
