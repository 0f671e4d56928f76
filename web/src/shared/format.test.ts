import { expect, it } from "vitest";
import { age, bytes, dayGroup, duration, fingerprint, moment, money, roundCount } from "./format";

it("says how long things took", () => {
  expect([41.4, 6_840, 18_200, 161_000].map(duration)).toEqual(["41 ms", "6.84 s", "18.2 s", "2 min 41 s"]);
});

it("shortens large counts", () => {
  expect([999_999, 1_604_118, 312_000_000].map(roundCount)).toEqual(["999,999", "1.6 M", "312 M"]);
});

it("says how old things are", () => {
  const now = Date.parse("2026-11-16T12:00:00Z");
  expect(age("2026-11-16T11:46:00Z", now)).toBe("14 min");
  expect(age("2026-11-15T11:00:00Z", now)).toBe("1 day");
});

it("groups by day", () => {
  const now = new Date("2026-11-16T12:00:00");
  expect(
    ["2026-11-16T01:00:00", "2026-11-15T23:00:00", "2026-11-11T10:00:00", "2026-09-01T10:00:00"].map((iso) =>
      dayGroup(iso, now),
    ),
  ).toEqual(["Today", "Yesterday", "Last week", "September 2026"]);
  expect(moment("2026-11-09T10:00:00", new Date("2026-11-12T10:00:00"))).toBe("Mon 9 Nov");
});

it("names money and fingerprints", () => {
  expect([money(0), money(0.0041), money(null)]).toEqual(["0.00 USD", "0.0041 USD", "price not known"]);
  expect(fingerprint("sha256:9f3c51ab07e2ffff")).toBe("9f3c 51ab 07e2");
});

it("writes sizes in the unit that fits", () => {
  expect([bytes(0), bytes(512), bytes(1_240), bytes(12_400_000), bytes(2_048_000_000)]).toEqual([
    "0 bytes",
    "512 bytes",
    "1.2 kB",
    "12 MB",
    "2.0 GB",
  ]);
});
