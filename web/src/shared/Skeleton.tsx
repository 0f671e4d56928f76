const WIDTHS = [62, 38, 80, 46, 70, 54];

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
