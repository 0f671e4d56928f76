const WIDTHS = [62, 38, 80, 46, 70, 54];

/** Placeholder for a table whose columns are not known yet, including its toolbar and header. */
export function SkeletonTable() {
  return (
    <div className="skel-table">
      <div className="tool dim">Columns and rows appear here as soon as they are read.</div>
      <div className="grid-head" aria-hidden />
      <SkeletonRows rows={12} columns={4} />
    </div>
  );
}

/** Placeholder rows in the shape of the rows that are loading, so that the layout does not jump. */
export function SkeletonRows({ rows, columns }: { rows: number; columns: number }) {
  return (
    <div className="skel-rows" aria-hidden>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row}>
          {Array.from({ length: columns }, (_, column) => (
            <i key={column} className={`skel w${WIDTHS[(row * 3 + column) % WIDTHS.length]}`} />
          ))}
        </div>
      ))}
    </div>
  );
}
