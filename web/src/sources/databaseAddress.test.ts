import { expect, it } from "vitest";
import { fieldAtFault, withPassword } from "./databaseAddress";

it("puts the password into the address, whatever it is made of", () => {
  expect(withPassword("postgresql://reader@db:5432/sales", "a@b/c")).toBe(
    "postgresql://reader:a%40b%2Fc@db:5432/sales",
  );
  expect(withPassword("postgresql://reader:old@db/sales", "new")).toBe("postgresql://reader:new@db/sales");
  expect(withPassword("postgresql://db/sales", "")).toBe("postgresql://db/sales");
});

it("needs a user for a password", () => {
  expect(withPassword("postgresql://db/sales", "x")).toBeNull();
  expect(withPassword("sales", "x")).toBeNull();
});

it("marks the field that a problem is about", () => {
  expect(fieldAtFault("source_login")).toBe("password");
  expect(fieldAtFault("source_exists")).toBe("name");
  expect(fieldAtFault("source_unreachable")).toBe("address");
});
