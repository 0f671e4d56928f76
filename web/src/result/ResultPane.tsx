import { ChartColumn, Check, ChevronLeft, Maximize2, Minimize2, ShieldCheck, Table2, X } from "lucide-react";
import { Suspense } from "react";
import { titleOf } from "../answer/title";
import { reach } from "../api/reach";
import { Receipt } from "../run/Receipt";
import { isOver, type RunView } from "../run/run";
import { verdicts } from "../run/verdicts";
import { count } from "../shared/format";
import { later } from "../shared/later";
import { SkeletonRows, SkeletonTable } from "../shared/Skeleton";
import { Status } from "../shared/Status";
import { useStore } from "../shared/store";
import { panelProps, Tabs } from "../shared/Tabs";
import { CheckTab } from "./CheckTab";
import { DownloadMenu } from "./DownloadMenu";
import type { LitCell } from "./litCell";
import { TableTab } from "./TableTab";
import { useTableView } from "./tableView";

const ChartTab = later(() => import("./ChartTab"));

export type ResultTab = "table" | "chart" | "check";

interface Props {
  run: RunView;
  question: string;
  tab: ResultTab;
  onTab: (tab: ResultTab) => void;
  lit: LitCell | null;
  width: number;
  full: boolean;
  onFull: () => void;
  onBack: () => void;
}

export function ResultPane({ run, question, tab, onTab, lit, width, full, onFull, onBack }: Props) {
  const { answer } = run;
  const verdict = useStore(verdicts)[run.id ?? ""];
  const view = useTableView();
  const lost = useStore(reach).state === "lost";
  const going = !answer && !isOver(run) && !lost;
  const Size = full ? Minimize2 : Maximize2;
  return (
    <section className="pane res" aria-label="Result" style={{ "--result-width": `${width}px` } as React.CSSProperties}>
      <div className="head">
        <button type="button" className="btn ghost icon back" aria-label="Back to the conversation" onClick={onBack}>
          <ChevronLeft className="i" aria-hidden />
        </button>
        <h2 className="clip grow">{answer ? titleOf(answer) : question}</h2>
        <DownloadMenu run={run} view={view} />
        <button
          type="button"
          className="btn ghost icon small hide-s"
          aria-label={full ? "Side by side" : "Full width"}
          title={full ? "Side by side" : "Full width"}
          onClick={onFull}
        >
          <Size className="i i-s" aria-hidden />
        </button>
        <button
          type="button"
          className="btn ghost icon small hide-s"
          aria-label="Close"
          title="Close  Esc"
          onClick={onBack}
        >
          <X className="i i-s" aria-hidden />
        </button>
      </div>
      <Tabs
        label="Result"
        current={tab}
        onSelect={onTab}
        tabs={[
          {
            name: "table",
            label: "Table",
            icon: <Table2 className="i" aria-hidden />,
            extra: <span className="n">{run.rowCount === null ? "" : count(run.rowCount)}</span>,
          },
          { name: "chart", label: "Chart", icon: <ChartColumn className="i" aria-hidden /> },
          {
            name: "check",
            label: "Check",
            icon: <ShieldCheck className="i" aria-hidden />,
            extra: verdict?.verdict === "same" && <SameDot />,
          },
        ]}
      />
      {going && <div className="streambar" aria-hidden />}
      <div className="panel" {...panelProps(tab)}>
        {tab === "table" &&
          (run.columns.length ? (
            <TableTab run={run} lit={lit} view={view} onCheck={() => onTab("check")} />
          ) : (
            <SkeletonTable />
          ))}
        {tab === "chart" && (
          <Suspense fallback={<SkeletonRows rows={8} columns={1} />}>
            <ChartTab run={run} />
          </Suspense>
        )}
        {tab === "check" &&
          (answer ? <CheckTab answer={answer} question={question} /> : <SkeletonRows rows={6} columns={2} />)}
      </div>
      <footer className="foot">
        {answer ? (
          <Receipt answer={answer} ms={run.ms} />
        ) : isOver(run) ? (
          <Status state="error">Not answered</Status>
        ) : (
          <Status state={lost ? "idle" : "running"}>
            {lost ? "Running when the server was last reached" : "Running"}
          </Status>
        )}
      </footer>
    </section>
  );
}

function SameDot() {
  return (
    <span className="okdot" title="Same rows on replay">
      <Check className="i" aria-hidden />
      <span className="vh">same rows on replay</span>
    </span>
  );
}
