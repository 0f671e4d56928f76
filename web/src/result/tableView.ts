import { useDeferredValue, useMemo, useState } from "react";
import type { RowOrder } from "../answer/rows";
import type { OutputColumn } from "../api/types";

/** The sorting, filter and visible columns of one answer's table. */
export interface TableView {
  order: RowOrder;
  /** The filter as typed. The rows follow a moment later. */
  search: string;
  hidden: ReadonlySet<number>;
  setSearch: (text: string) => void;
  setHidden: (hidden: ReadonlySet<number>) => void;
  sortBy: (column: string) => void;
}

export function useTableView(): TableView {
  const [sort, setSort] = useState<RowOrder["sort"]>(null);
  const [search, setSearch] = useState("");
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const sought = useDeferredValue(search);
  const order = useMemo<RowOrder>(() => ({ sort, search: sought }), [sort, sought]);
  const sortBy = (name: string) =>
    setSort((now) =>
      now?.column !== name
        ? { column: name, descending: false }
        : now.descending
          ? null
          : { column: name, descending: true },
    );
  return { order, search, hidden, setSearch, setHidden, sortBy };
}

/** The view as a request to the server, or null if nothing is filtered, sorted or hidden. */
export function selectionOf(
  { order, hidden }: Pick<TableView, "order" | "hidden">,
  columns: readonly OutputColumn[],
): string | null {
  const chosen = {
    ...(order.sort && { sort: [order.sort] }),
    ...(order.search.trim() && { search: order.search.trim() }),
    ...(hidden.size && { columns: columns.filter((_, i) => !hidden.has(i)).map((column) => column.name) }),
  };
  return Object.keys(chosen).length ? JSON.stringify(chosen) : null;
}

/** Describes what a download of this view contains. */
export function choiceInWords({ order, hidden }: Pick<TableView, "order" | "hidden">): string {
  const words = [
    order.search.trim() && `filtered by “${order.search.trim()}”`,
    order.sort && `sorted by ${order.sort.column}`,
    hidden.size && "without hidden columns",
  ];
  return words.filter(Boolean).join(", ");
}
