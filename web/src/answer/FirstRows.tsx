import type { Answer, Json } from "../api/types";
import { CellValue } from "./Cell";
import { formatOf } from "./cells";

const COLUMNS = 5;

/** The first rows of an answer inside the conversation. Narrow screens show the first three columns. */
export function FirstRows({ answer, rows }: { answer: Answer; rows: Json[][] }) {
  const formats = answer.columns.slice(0, COLUMNS).map((_, i) => formatOf(answer, i));
  return (
    <table className="data first-rows">
      <thead>
        <tr>
          {formats.map((format, i) => (
            <th key={i} scope="col" className={format.right ? "r" : undefined}>
              {format.header}
              {format.unit && <span className="u">{format.unit}</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
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
  );
}
