import { type ColumnDef, getCoreRowModel, type Table, useReactTable } from "@tanstack/react-table";
import { useMemo } from "react";
import { BAR_WIDTH } from "../answer/cellBar";
import { type CellFormat, cellText } from "../answer/cells";
import type { Json } from "../api/types";
import { hasBar } from "./totals";

const NARROWEST = 76;
const WIDEST = 300;
const PER_LETTER = 7.3;
const PADDING = 40;

/** Width, order, pinning and visibility of columns. The table library holds no rows. */
export function useColumns(formats: CellFormat[], sample: Json[][]): Table<Json[]> {
  // biome-ignore lint/correctness/useExhaustiveDependencies: widths are computed once, from the headers and the first rows.
  const columns = useMemo(
    () =>
      formats.map(
        (format, i): ColumnDef<Json[]> => ({
          id: String(i),
          header: format.header,
          size: widthOf(format, i, sample),
          minSize: 56,
          maxSize: 900,
        }),
      ),
    [formats, sample.length > 0],
  );
  return useReactTable<Json[]>({
    data: NO_ROWS,
    columns,
    getCoreRowModel: getCoreRowModel(),
    columnResizeMode: "onChange",
    enablePinning: true,
  });
}

const NO_ROWS: Json[][] = [];

export function widthOf(format: CellFormat, index: number, sample: Json[][]): number {
  const texts = sample.slice(0, 40).map((row) => cellText(row[index] ?? null, format).length);
  const head = format.header.length + (format.unit ? format.unit.length + 1 : 0) + 2;
  const bar = hasBar(format) ? BAR_WIDTH : 0;
  return Math.round(Math.min(WIDEST, Math.max(NARROWEST, Math.max(head, ...texts) * PER_LETTER + PADDING + bar)));
}
