import { expect, it } from "vitest";
import { choiceInWords, selectionOf } from "./tableView";

const columns = [
  { name: "city", type: "text" },
  { name: "n", type: "integer" },
] as const;

it("requests the view as shown, or nothing if it is unchanged", () => {
  const all = { order: { sort: null, search: " " }, hidden: new Set<number>() };
  expect(selectionOf(all, columns)).toBeNull();
  const some = { order: { sort: { column: "n", descending: true }, search: "ber " }, hidden: new Set([0]) };
  expect(JSON.parse(selectionOf(some, columns)!)).toEqual({
    sort: [{ column: "n", descending: true }],
    search: "ber",
    columns: ["n"],
  });
  expect(choiceInWords(some)).toBe("filtered by “ber”, sorted by n, without hidden columns");
});
