import type { Header } from "@tanstack/react-table";
import { ArrowDown, ArrowUp, Pin } from "lucide-react";
import type { CellFormat } from "../answer/cells";
import type { Json, SortKey } from "../api/types";
import type { PlacedColumn } from "./rowPainter";

interface Props {
  place: PlacedColumn;
  format: CellFormat;
  sort: SortKey | null;
  header: Header<Json[], unknown> | undefined;
  onSort: () => void;
}

/** A column header: sorts, pins, resizes, and shows the unit once for all cells. */
export function ColumnHead({ place, format, sort, header, onSort }: Props) {
  const pinned = place.pinned !== null;
  const Arrow = sort?.descending ? ArrowDown : ArrowUp;
  return (
    <div
      role="columnheader"
      aria-colindex={place.index + 1}
      aria-sort={sort ? (sort.descending ? "descending" : "ascending") : "none"}
      className={`cell ${format.right ? "r" : ""} ${pinned ? "pin" : ""} ${sort ? "sorted" : ""}`}
      style={
        pinned
          ? { left: place.pinned ?? 0, width: place.width }
          : { left: place.left, width: place.width, position: "absolute" }
      }
    >
      <button type="button" className="sorter clip" title={`Sort by ${format.header}`} onClick={onSort}>
        {format.header}
        {format.unit && <span className="u">{format.unit}</span>}
        {sort && <Arrow className="i" aria-hidden />}
      </button>
      <button
        type="button"
        className={`pinner ${pinned ? "on" : ""}`}
        aria-pressed={pinned}
        aria-label={`Pin ${format.header}`}
        title={pinned ? "Unpin the column" : "Pin the column"}
        onClick={() => header?.column.pin(pinned ? false : "left")}
      >
        <Pin className="i" aria-hidden />
      </button>
      <span
        className="resizer"
        aria-hidden
        onPointerDown={(event) => event.stopPropagation()}
        onMouseDown={header?.getResizeHandler()}
        onTouchStart={header?.getResizeHandler()}
        onDoubleClick={() => header?.column.resetSize()}
      />
    </div>
  );
}
