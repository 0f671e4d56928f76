import { expect, test } from "vitest";
import { doorAt } from "../api/door";
import type { RequestView } from "../api/types";
import { invitationLink, requestState, userState, whoOf } from "./describe";

const REQUEST: RequestView = {
  request_id: "req_0",
  user: "erik",
  wanted: "all cities",
  reason: "",
  asked_at: "2026-01-01T00:00:00Z",
  state: "approved",
  decided_by: "nora",
  decided_at: "2026-01-01T00:00:00Z",
  role: "manager",
  expires_at: "2026-01-31T00:00:00Z",
  note: "",
};

test("a rule says whom it is about", () => {
  expect(whoOf({ roles: ["everyone"], users: [] })).toBe("Everyone");
  expect(whoOf({ roles: ["seller"], users: ["erik"] })).toBe("role seller, erik");
});

test("who is kept out is not said to sign in", () => {
  expect(userState({ disabled: true, can_sign_in: true, origin: "local" })[1]).toBe("Kept out");
  expect(userState({ disabled: false, can_sign_in: false, origin: "local" })[1]).toBe("No password yet");
  expect(userState({ disabled: false, can_sign_in: false, origin: "service" })[1]).toBe("A program, by key");
});

test("an approval ends with the role", () => {
  expect(requestState(REQUEST, Date.parse("2026-01-30T00:00:00Z"))[0]).toBe("ok");
  expect(requestState(REQUEST, Date.parse("2026-01-31T00:00:00Z"))).toEqual(["idle", "manager has run out"]);
  expect(requestState({ ...REQUEST, state: "denied" })[1]).toBe("Denied by nora");
});

test("the link opens the door that it is made for", () => {
  const link = new URL(invitationLink("http://127.0.0.1:1", "a-b_c"));
  expect(doorAt(link.hash)).toEqual({ state: "invited", token: "a-b_c", chooseName: false });
});
