import { useEffect, useState } from "react";
import { CellValue } from "../answer/Cell";
import { plainFormat } from "../answer/cells";
import { api, Problem } from "../api/client";
import type { Explored, PlanChange } from "../api/types";
import { count } from "../shared/format";
import { ProblemNotice } from "../shared/Notice";
import { SkeletonRows } from "../shared/Skeleton";

const SHOWN = 200;

/** The rows that filters leave, as they are stored. */
export function Rows({ place, changes }: { place: string; changes: PlanChange[] }) {
  const [found, setFound] = useState<Explored | Problem | null>(null);
  const asked = JSON.stringify(changes);
  useEffect(() => {
    let current = true;
    api
      .post<Explored>(place, { changes: JSON.parse(asked) as PlanChange[], rows: true })
      .then((rows) => current && setFound(rows))
      .catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        if (current) setFound(error);
      });
    return () => {
      current = false;
    };
  }, [place, asked]);
  if (!found) return <SkeletonRows rows={8} columns={4} />;
  if (found instanceof Problem) return <ProblemNotice problem={found} />;
  const formats = found.columns.map((column) => plainFormat(column));
  return (
    <>
      <p className="dim caption num of">
        {found.matching > SHOWN
          ? `The first ${SHOWN} of ${count(found.matching)} rows`
          : `${count(found.matching)} rows`}
      </p>
      <div className="scroll wide" tabIndex={0} role="region" aria-label="Rows">
        <table className="data">
          <thead>
            <tr>
              {found.columns.map(({ name, label, type }) => (
                <th key={name} scope="col" className={type === "integer" || type === "number" ? "n" : ""}>
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {found.rows.slice(0, SHOWN).map((row, i) => (
              <tr key={i}>
                {row.map((value, j) => (
                  <td key={j} className={typeof value === "number" ? "n num" : ""}>
                    <CellValue value={value} format={formats[j]!} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
