import { ArrowUpRight, ChevronLeft, Trash2 } from "lucide-react";
import { CellValue } from "../answer/Cell";
import { api, path } from "../api/client";
import type { EvalCaseDetail, EvalSuite, Json } from "../api/types";
import { columnFormat } from "../result/columnFormat";
import { Code } from "../shared/Code";
import { refresh, useFetched } from "../shared/fetched";
import { plural } from "../shared/format";
import { Link } from "../shared/Link";
import { ProblemNotice } from "../shared/Notice";
import { address, navigate } from "../shared/router";
import { SkeletonRows } from "../shared/Skeleton";
import { Tag } from "../shared/Status";
import { toast } from "../shared/toasts";
import { WideTable } from "../shared/WideTable";
import { OUTCOMES } from "./EvalsView";

const MOST_ROWS = 50;

/** The expected rows beside the actual rows. */
export function CaseDetail({ suite, caseId }: { suite: EvalSuite; caseId: string }) {
  const found = useFetched<EvalCaseDetail>(path`/evals/${suite.name}/cases/${caseId}`);
  const detail = found.data;
  const outcome = detail?.outcome ? OUTCOMES[detail.outcome as keyof typeof OUTCOMES] : null;
  const remove = async () => {
    await api.remove(path`/evals/${suite.name}/cases/${caseId}`);
    toast("Removed from the golden questions");
    refresh("/evals");
    navigate(address("evals", suite.name));
  };
  return (
    <section className="pane" aria-label="Question">
      <div className="head">
        <Link className="btn ghost icon back" href={address("evals", suite.name)} aria-label="Back to the questions">
          <ChevronLeft className="i" aria-hidden />
        </Link>
        <h2 className="clip grow">{detail?.case.question ?? caseId}</h2>
        {outcome && <Tag state={outcome[0]}>{outcome[1]}</Tag>}
        {detail?.case.run_id && (
          <Link className="btn small" href={address("runs", detail.case.run_id)}>
            <ArrowUpRight className="i i-s" aria-hidden />
            Its run
          </Link>
        )}
        {!suite.bundled && (
          <button
            type="button"
            className="btn ghost icon small"
            aria-label="Remove this question"
            title="Remove this question"
            onClick={() => void remove()}
          >
            <Trash2 className="i i-s" aria-hidden />
          </button>
        )}
      </div>
      <div className="scroll checktab" tabIndex={0}>
        {found.problem && !detail && <ProblemNotice problem={found.problem} onRetry={found.reload} />}
        {!detail && !found.problem && <SkeletonRows rows={8} columns={2} />}
        {detail && (
          <>
            <div className="beside">
              <section>
                <h3>Expected</h3>
                <Rows columns={detail.columns} rows={detail.expected_rows} />
              </section>
              <section>
                <h3>Came</h3>
                <Rows columns={detail.columns} rows={detail.outcome ? detail.got_rows : null} />
              </section>
            </div>
            {detail.case.gold_sql && <CodeSection title="Expected, as SQL" code={detail.case.gold_sql} />}
            {detail.got_code && <CodeSection title="What ran" code={detail.got_code} />}
          </>
        )}
      </div>
    </section>
  );
}

function CodeSection({ title, code }: { title: string; code: string }) {
  return (
    <section>
      <h3>{title}</h3>
      <Code text={code} language="sql" />
    </section>
  );
}

function Rows({ columns, rows }: { columns: string[]; rows: Json[][] | null }) {
  if (rows === null) return <p className="dim">Not run yet.</p>;
  const width = rows[0]?.length ?? columns.length;
  const formats = Array.from({ length: width }, (_, at) => {
    const values = rows.map((row) => row[at] ?? null);
    return columnFormat(
      { name: columns[at] ?? "", type: values.some((value) => typeof value === "number") ? "number" : "text" },
      values,
    );
  });
  return (
    <>
      <WideTable label="Rows">
        <table className="data dense">
          {columns.length === width && (
            <thead>
              <tr>
                {columns.map((column, at) => (
                  <th key={column} className={formats[at]?.right ? "r" : undefined}>
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
          )}
          <tbody>
            {rows.slice(0, MOST_ROWS).map((row, i) => (
              <tr key={i}>
                {formats.map((format, at) => (
                  <td key={at} className={format.right ? "r" : undefined}>
                    <CellValue value={row[at] ?? null} format={format} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </WideTable>
      <p className="dim caption">{plural(rows.length, "row")}</p>
    </>
  );
}
