import { CellValue } from "../answer/Cell";
import { cellText, plainFormat } from "../answer/cells";
import type { Explored, Json } from "../api/types";

interface Props {
  seen: Explored;
  chosen: string | null;
  onDrill: (value: Json, label: string) => void;
}

const WIDTH = 100;

/** Groups as a ranking: label, bar and value in one row, so that bars and numbers cannot disagree. */
export function Groups({ seen, chosen, onDrill }: Props) {
  const formats = seen.columns.map((column) => plainFormat(column));
  const measure = seen.columns.length - 1;
  const grouped = measure > 0;
  const values = seen.rows.map((row) => (typeof row[measure] === "number" ? (row[measure] as number) : 0));
  const most = Math.max(0, ...values);
  if (!seen.rows.length) return <p className="none dim">No row of the table matches these filters.</p>;
  if (!grouped)
    return (
      <p className="display only">
        <CellValue value={seen.rows[0]?.[0] ?? null} format={formats[0]!} />
        <small>{seen.columns[0]?.label}</small>
      </p>
    );
  return (
    <table className="data groups">
      <thead>
        <tr>
          <th scope="col">{seen.columns[0]?.label}</th>
          <th scope="col">
            <span className="vh">As a bar</span>
          </th>
          <th scope="col" className="n">
            {seen.columns[measure]?.label}
          </th>
        </tr>
      </thead>
      <tbody>
        {seen.rows.map((row, i) => {
          const label = cellText(row[0] ?? null, formats[0]!) || "no value";
          const share = most > 0 ? Math.max(0, values[i]!) / most : 0;
          return (
            <tr key={`${label} ${i}`} className={label === chosen ? "sel" : ""}>
              <td>
                <button
                  type="button"
                  className="drill"
                  title={`Show the rows of ${label}`}
                  disabled={row[0] === null}
                  onClick={() => onDrill(row[0] ?? null, label)}
                >
                  <CellValue value={row[0] ?? null} format={formats[0]!} />
                </button>
              </td>
              <td className="barcell" onClick={() => row[0] !== null && onDrill(row[0] ?? null, label)}>
                <svg viewBox={`0 0 ${WIDTH} 14`} preserveAspectRatio="none" aria-hidden>
                  <rect width={WIDTH * share} height="14" />
                </svg>
              </td>
              <td className="n num">
                <CellValue value={row[measure] ?? null} format={formats[measure]!} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
