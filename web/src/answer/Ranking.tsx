import type { Answer, Json } from "../api/types";
import { CellValue } from "./Cell";
import { formatOf } from "./cells";
import type { RankingFigure } from "./figure";

const SHOWN_COLUMNS = 1;

interface Props {
  answer: Answer;
  rows: Json[][];
  /** All rows, so that the bars keep their scale when more are shown. */
  all: Json[][];
  figure: RankingFigure;
}

/** A ranking is one table: name, bar, value. Bars and rows cannot disagree. */
export function Ranking({ answer, rows, all, figure: { label, measure, others } }: Props) {
  const [name, value] = [formatOf(answer, label), formatOf(answer, measure)];
  const beside = others.slice(0, SHOWN_COLUMNS);
  const numbers = all.map((row) => Number(row[measure] ?? 0));
  const [least, most] = [Math.min(0, ...numbers), Math.max(0, ...numbers)];
  const signed = value.quantity === "change" || value.quantity === "growth";
  return (
    <table className="rank">
      <thead>
        <tr>
          <th scope="col">{name.header}</th>
          <th scope="col" className="r wide" colSpan={2}>
            {value.header}
            {value.unit && <span className="u"> {value.unit}</span>}
          </th>
          {beside.map((column) => (
            <th key={column} scope="col" className="r more">
              {formatOf(answer, column).header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>
            <th scope="row">
              <span className="clip">
                <CellValue value={row[label] ?? null} format={name} />
              </span>
            </th>
            <td className="b">
              <Bar value={row[measure] ?? null} least={least} most={most} signed={signed} />
            </td>
            <td className="r">
              <CellValue value={row[measure] ?? null} format={value} />
            </td>
            {beside.map((column) => (
              <td key={column} className="r more">
                <CellValue value={row[column] ?? null} format={formatOf(answer, column)} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Bar({ value, least, most, signed }: { value: Json; least: number; most: number; signed: boolean }) {
  const span = most - least || 1;
  const zero = (-least / span) * 100;
  const end = value === null ? zero : ((Number(value) - least) / span) * 100;
  const tone = signed ? (end < zero ? "less" : "more") : undefined;
  return (
    <svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden>
      <rect className={tone} x={Math.min(zero, end)} width={Math.abs(end - zero)} height={14} />
      {least < 0 && <line className="zero" x1={zero} x2={zero} y1={-9} y2={23} vectorEffect="non-scaling-stroke" />}
    </svg>
  );
}
