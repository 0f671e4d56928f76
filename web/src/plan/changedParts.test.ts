import { expect, test } from "vitest";
import type { PlanPart } from "../api/types";
import { changedParts } from "./changedParts";

function part(kind: PlanPart["kind"], label: string): PlanPart {
  return { kind, label, options: [], remove: null, place: null, number: null, values: [] };
}

test("a part counts as changed if its words differ, are new or are gone", () => {
  const before = [part("measure", "Revenue"), part("group", "Month"), part("filter", "Status is 'A'")];
  const after = [part("measure", "Revenue"), part("group", "Quarter"), part("period", "2025")];
  expect([...changedParts(before, after)]).toEqual(["group", "filter", "period"]);
  expect(changedParts(before, before).size).toBe(0);
});
