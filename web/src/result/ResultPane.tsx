import { ChartColumn, Check, ChevronLeft, Maximize2, Minimize2, ShieldCheck, Table2 } from "lucide-react";
import { lazy, Suspense } from "react";
import { isOver, type RunView } from "../ask/run";
import type { LitCell } from "../ask/AskView";
import { Receipt } from "../ask/Receipt";
import { count } from "../shared/format";
import { SkeletonRows } from "../shared/Skeleton";
import { Status } from "../shared/Status";
import { useStore } from "../shared/store";
import { panelProps, Tabs } from "../shared/Tabs";
import { CheckTab } from "./CheckTab";
import { DownloadMenu } from "./DownloadMenu";
import { StaleLine } from "./StaleLine";
import { TableTab } from "./TableTab";
import { useTableView } from "./tableView";
import { titleOf } from "./title";
import { verdicts } from "./verdicts";

const ChartTab = lazy(() => import("./ChartTab"));

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
  onAgain: () => void;
}

export function ResultPane({ run, question, tab, onTab, lit, width, full, onFull, onBack, onAgain }: Props) {
  const { answer } = run;
  const verdict = useStore(verdicts)[run.id ?? ""];
  const view = useTableView();
  const Size = full ? Minimize2 : Maximize2;
  return (
    <section className="pane res" aria-label="Result" style={{ "--result-width": `${width}px` } as React.CSSProperties}>
      <div className="head">
        <button type="button" className="btn ghost icon back" aria-label="Back to the conversation" onClick={onBack}>
          <ChevronLeft className="i" aria-hidden />
        </button>
        <h2 className="clip grow">{answer ? titleOf(answer) : question}</h2>
        <DownloadMenu run={run} view={view} />
        <button type="button" className="btn ghost icon small hide-s" aria-label={full ? "Side by side" : "Full width"} title={full ? "Side by side" : "Full width"} onClick={onFull}>
          <Size className="i i-s" aria-hidden />
        </button>
      </div>
      {answer && <StaleLine answer={answer} onAgain={onAgain} />}
      <Tabs
        label="Result"
        current={tab}
        onSelect={onTab}
        tabs={[
          { name: "table", label: "Table", icon: <Table2 className="i" aria-hidden />, extra: <span className="n">{run.rowCount === null ? "" : count(run.rowCount)}</span> },
          { name: "chart", label: "Chart", icon: <ChartColumn className="i" aria-hidden /> },
          { name: "check", label: "Check", icon: <ShieldCheck className="i" aria-hidden />, extra: verdict?.verdict === "same" && <SameDot /> },
        ]}
      />
      {!answer && !isOver(run) && <div className="streambar" aria-hidden />}
      <div className="panel" {...panelProps(tab)}>
        {tab === "table" && (run.columns.length ? <TableTab run={run} lit={lit} view={view} /> : <SkeletonRows rows={8} columns={4} />)}
        {tab === "chart" && (
          <Suspense fallback={<SkeletonRows rows={8} columns={1} />}>
            <ChartTab run={run} />
          </Suspense>
        )}
        {tab === "check" && (answer ? <CheckTab answer={answer} question={question} /> : <SkeletonRows rows={6} columns={2} />)}
      </div>
      <footer className="foot">{answer ? <Receipt answer={answer} long /> : <Status state={isOver(run) ? "error" : "running"}>{isOver(run) ? "Not answered" : "Running"}</Status>}</footer>
    </section>
  );
}

function SameDot() {
  return (
    <span className="okdot" title="Replays the same">
      <Check className="i" aria-hidden />
      <span className="vh">replays the same</span>
    </span>
  );
}
