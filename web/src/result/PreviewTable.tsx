import { ChevronRight } from "lucide-react";
import type { Answer } from "../api/types";
import { CellValue } from "./Cell";
import { formatOf } from "./cells";

const ROWS = 4;
const COLUMNS = 3;

/** The first rows of a result in the conversation, for phones; the rest is one tap away. */
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
        Show all {answer.row_count.toLocaleString("en-US")} rows
        <ChevronRight className="i i-s" aria-hidden />
      </button>
    </div>
  );
}
