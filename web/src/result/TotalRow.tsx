import type { CellFormat } from "../answer/cells";
import { plural } from "../shared/format";
import type { PlacedColumn } from "./rowPainter";
import type { TotalLine } from "./totals";

interface Props {
  line: TotalLine;
  columns: PlacedColumn[];
  formats: CellFormat[];
  width: number;
  height: number;
  rowIndex: number;
}

/** The total row below the rows. The first column without a total says which rows it covers. */
export function TotalRow({ line, columns, formats, width, height, rowIndex }: Props) {
  const labelled = columns.find((column) => !line.cells[column.index])?.index;
  return (
    <div className="grid-total" role="row" aria-rowindex={rowIndex} style={{ width, height }}>
      {columns.map(({ id, index, left, width: wide, pinned }) => {
        const total = line.cells[index];
        const missing = total?.missing ? `${plural(total.missing, "missing value")} not counted` : undefined;
        return (
          <div
            key={id}
            role="gridcell"
            aria-colindex={index + 1}
            className={`cell ${formats[index]?.right ? "r" : ""} ${pinned === null ? "" : "pin"} ${missing ? "lacks" : ""}`}
            style={pinned === null ? { left, width: wide, position: "absolute" } : { left: pinned, width: wide }}
            title={missing}
          >
            {total?.text ?? (index === labelled ? line.label : "")}
            {missing && <span className="vh">, {missing}</span>}
          </div>
        );
      })}
    </div>
  );
}
