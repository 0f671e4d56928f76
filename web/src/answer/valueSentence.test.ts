import { expect, it } from "vitest";
import type { Answer } from "../api/types";
import { valueSentence } from "./valueSentence";

const said = (text: string, understood: string, kind: Answer["kind"] = "value") =>
  valueSentence({ kind, text, provenance: { understood, links: [] } as unknown as Answer["provenance"] });

it("says what the number is of, where the text only repeats it", () => {
  expect(said("Average total: 5.65.", "Give the average total of the invoices.")).toBe(
    "The average total of the invoices.",
  );
  expect(said("Total fee: 12.5 EUR.", "Give the total fee of the visits.")).toBe("The total fee of the visits.");
});

it("leaves a text that says more", () => {
  expect(said("412 invoices.", "Count the invoices.")).toBeNull();
  expect(said("Name: Ann; Age: 7.", "Give the name and age of the people.")).toBeNull();
  expect(said("Average total: 5.65.", "Give the average total of the invoices.", "table")).toBeNull();
});
