import { expect, it } from "vitest";
import { checkResult } from "./modelCheck";

const fine = { ok: true, ms: 12, error: null };
const error = { code: "model_unreachable", message: "The model did not answer.", hint: "Is it running?" };

it("says whether a model works, and which check failed and why", () => {
  const check = { name: "lab:m", works: true, tokens: 41, cost_usd: 0.0002 };
  expect(checkResult({ ...check, checks: { text: fine, tools: fine } })).toEqual({
    state: "ok",
    word: "Works",
    cost: "12 ms, 41 tokens, 0.0002 USD",
    reasons: [],
  });
  const without = checkResult({ ...check, checks: { text: fine, tools: { ok: false, ms: 5, error } } });
  expect([without.state, without.word]).toEqual(["warn", "Works, but not: tools"]);
  const dead = checkResult({ ...check, works: false, checks: { text: { ok: false, ms: 5, error } } });
  expect([dead.state, dead.word, dead.reasons]).toEqual([
    "error",
    "Does not work",
    ["The model did not answer. Is it running?"],
  ]);
});
