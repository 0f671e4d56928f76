import { expect, it } from "vitest";
import { grouped, isData, refusal } from "./uploadPlan";

const named = (...names: string[]) => names.map((name) => ({ name }));

it("makes one source of tables, and one of each database", () => {
  const groups = grouped(named("a.csv", "old.sqlite", "b.xlsx", "new.duckdb"));
  expect(groups.map((group) => group.map((file) => file.name))).toEqual([
    ["a.csv", "b.xlsx"],
    ["old.sqlite"],
    ["new.duckdb"],
  ]);
  expect(grouped([])).toEqual([]);
});

it("takes only data files from a folder", () => {
  expect(["a.csv", "b.CSV.gz", ".hidden.csv", "photo.png", "README.md", "c.parquet"].filter(isData)).toEqual([
    "a.csv",
    "b.CSV.gz",
    "c.parquet",
  ]);
});

it("gives the reason for refusing a file before it is uploaded", () => {
  const limits = { upload_mb: 10, upload_room_mb: 5 };
  expect(refusal(4_000_000, limits)).toBeNull();
  expect(refusal(0, limits)).toMatch("empty");
  expect(refusal(11_000_000, limits)).toBe("The file has 11 MB; the limit is 10 MB.");
  expect(refusal(7_000_000, limits)).toMatch("only 5 MB are left for uploads");
  expect(refusal(1, { upload_mb: 0, upload_room_mb: 5 })).toMatch("turned off");
});
