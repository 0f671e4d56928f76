import { expect, it } from "vitest";
import { closeDoor, door, doorAt, refusal } from "./door";

it("reads a one-time link from the address", () => {
  expect(doorAt("#setup=inv_a-b_1")).toEqual({ state: "invited", token: "inv_a-b_1", chooseName: true });
  expect(doorAt("#invitation=inv_x")).toEqual({ state: "invited", token: "inv_x", chooseName: false });
  for (const other of ["", "#", "#question", "#setup=", "#setup=a b", "#other=inv_x"])
    expect(doorAt(other)).toEqual({ state: "open" });
});

it("tells what went wrong at a provider by its code alone", () => {
  expect(doorAt("#sign-in-problem=sign_in_refused")).toEqual({ state: "closed", problem: "sign_in_refused" });
  expect(doorAt("#sign-in-problem=<b>Call us</b>")).toEqual({ state: "open" });
  expect(refusal("sign_in_refused")).toMatch(/begun in another browser/);
  expect(refusal("other_code")).toMatch(/other_code/);
});

it("keeps the form of a link when a reply asks to sign in", () => {
  door.set({ state: "invited", token: "t", chooseName: false });
  closeDoor();
  expect(door.get().state).toBe("invited");
  door.set({ state: "open" });
  closeDoor();
  expect(door.get().state).toBe("closed");
});
