const WIDTHS = [62, 38, 80, 46, 70, 54];

/** A table whose columns are not known yet, with all that stands above its rows. */
export function SkeletonTable() {
  return (
    <div className="skel-table">
      <div className="tool dim">Columns and rows appear here as soon as they are read.</div>
      <div className="grid-head" aria-hidden />
      <SkeletonRows rows={12} columns={4} />
    </div>
  );
}

/** Rows of the shape that is to come, so that nothing jumps. */
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
