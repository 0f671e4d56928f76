import { ChevronRight } from "lucide-react";
import type { Answer } from "../api/types";
import { count } from "../shared/format";
import { CellValue } from "./Cell";
import { formatOf } from "./cells";

const ROWS = 4;
const COLUMNS = 3;

/** The first rows of a result inside the conversation, for phones. A tap shows the rest. */
export function PreviewTable({ answer, onShow }: { answer: Answer; onShow: () => void }) {
  const formats = answer.columns.slice(0, COLUMNS).map((_, i) => formatOf(answer, i));
  if (!answer.rows.length) return null;
  return (
    <div className="preview card">
      <table className="data">
        <thead>
          <tr>
            {formats.map((format, i) => (
              <th key={i} className={format.right ? "r" : undefined}>
                {format.header}
                {format.unit && <span className="u">{format.unit}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {answer.rows.slice(0, ROWS).map((row, i) => (
            <tr key={i}>
              {formats.map((format, column) => (
                <td key={column} className={format.right ? "r" : "clip"}>
                  <CellValue value={row[column] ?? null} format={format} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <button type="button" className="more-rows" onClick={onShow}>
        {answer.row_count > ROWS ? `Show all ${count(answer.row_count)} rows` : "Open the table"}
        <ChevronRight className="i i-s" aria-hidden />
      </button>
    </div>
  );
}
