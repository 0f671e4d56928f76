import { expect, test } from "vitest";
import { runsTogether } from "./runsTogether";

const run = (minute: number, status: string) => ({
  run_id: `run_${minute}`,
  created_at: `2026-11-16T10:0${minute}:00Z`,
  status,
});

test("each run of several pages is listed once, newest first, in its latest version", () => {
  const older = [run(3, "running"), run(2, "done"), run(1, "done")];
  const newest = [run(4, "running"), run(3, "done")];
  expect(runsTogether(newest, older).map(({ run_id, status }) => [run_id, status])).toEqual([
    ["run_4", "running"],
    ["run_3", "done"],
    ["run_2", "done"],
    ["run_1", "done"],
  ]);
});
