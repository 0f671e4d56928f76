import { Suspense } from "react";
import type { Answer, Json } from "../api/types";
import { later } from "../shared/later";
import { SkeletonRows } from "../shared/Skeleton";
import { AnswerFigure } from "./AnswerFigure";
import { AnswerNotes } from "./AnswerNotes";
import { cellText, formatOf } from "./cells";
import { NothingFound } from "./NothingFound";
import { Prose } from "./Prose";

const PathFigure = later(() => import("./PathFigure"));

interface Props {
  answer: Answer;
  rows: Json[][];
  onCell?: (row: number | null, column: number | null) => void;
  onOpen?: () => void;
}

/** The answer in its one order: value or sentence, ways, figure, what to know. */
export function AnswerBody({ answer, rows, onCell, onOpen }: Props) {
  const empty = answer.columns.length > 0 && answer.row_count === 0;
  return (
    <>
      {answer.kind === "value" && <BigValue answer={answer} />}
      {empty ? <NothingFound answer={answer} /> : <Prose answer={answer} onCell={onCell} />}
      {answer.graph && answer.graph.nodes.length > 0 && (
        <Suspense fallback={<SkeletonRows rows={4} columns={3} />}>
          <PathFigure graph={answer.graph} />
        </Suspense>
      )}
      <AnswerFigure answer={answer} rows={rows} onOpen={onOpen} />
      <AnswerNotes answer={answer} />
    </>
  );
}

function BigValue({ answer }: { answer: Answer }) {
  const value = answer.rows[0]?.[0];
  const column = answer.columns[0];
  if (value === undefined || !column) return null;
  const format = formatOf(answer, 0);
  return (
    <p className="display num">
      {cellText(value, format)}
      {format.unit && <span className="unit">{format.unit}</span>}
    </p>
  );
}
