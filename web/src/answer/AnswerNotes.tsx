import { Info, TriangleAlert } from "lucide-react";
import type { Answer } from "../api/types";

const SHOWN = 3;

/** What a reader should know to trust the answer, a line each. All of it is in Check. */
export function AnswerNotes({ answer }: { answer: Answer }) {
  const { findings, confidence } = answer.provenance;
  const missing = answer.status === "partial" ? ["Parts are missing, so totals are withheld."] : [];
  const notes = [...missing, ...new Set(findings)].slice(0, SHOWN);
  const grave = answer.status === "partial" || confidence === "low" || confidence === "medium";
  const Icon = grave ? TriangleAlert : Info;
  if (!notes.length) return null;
  return (
    <ul className="notes">
      {notes.map((note) => (
        <li key={note} className={grave ? undefined : "quiet"}>
          <Icon className="i i-s" aria-hidden />
          <span>{note}</span>
        </li>
      ))}
    </ul>
  );
}
