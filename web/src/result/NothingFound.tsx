import { Search } from "lucide-react";
import type { Answer } from "../api/types";

/** A true answer: looked, and found nothing. */
export function NothingFound({ answer }: { answer: Answer }) {
  return (
    <div className="cen">
      <span className="big">
        <Search className="i ok" aria-hidden />
      </span>
      <p className="h">Nothing matched</p>
      <p className="mid">{answer.provenance.understood ?? "The query ran and found no rows."}</p>
    </div>
  );
}
