import { Plus } from "lucide-react";
import { useState } from "react";
import { path } from "../api/client";
import type { GraphDocument, GraphList, ReadyGraphs, ScheduleList } from "../api/types";
import { useFetched } from "../shared/fetched";
import { Link } from "../shared/Link";
import { ProblemNotice } from "../shared/Notice";
import { address, navigate } from "../shared/router";
import { SkeletonRows } from "../shared/Skeleton";
import { GraphEditor } from "./GraphEditor";
import { NEW_GRAPH } from "./kinds";
import { ReadyMade, ReadyMadeList } from "./ReadyMade";
import { Versions } from "./Versions";
import "./graphs.css";

const NEW = "+";

/** The graphs that people drew and those that come ready-made: a list, and one of them to look at, edit and run. */
export default function GraphsView({ name, run }: { name: string | null; run: string | null }) {
  const list = useFetched<GraphList>("/graphs");
  const schedules = useFetched<ScheduleList>("/schedules");
  const graphs = list.data?.graphs ?? [];
  const isNew = name === NEW;
  const current = isNew ? null : (name ?? graphs[0]?.name ?? null);
  const document = useFetched<GraphDocument>(current ? path`/graphs/${current}` : null);
  const templates = useFetched<ReadyGraphs>("/graphs/templates").data?.templates ?? [];
  const begin = isNew && run !== null ? templates.find((each) => each.name === run)?.text : NEW_GRAPH;
  const [compared, setCompared] = useState<number | null>(null);
  const when = (graph: string) =>
    schedules.data?.schedules.find((known) => known.schedule.graph === graph)?.schedule.cron ?? "by hand";
  return (
    <main className={`graphs ${name ? "one" : ""}`}>
      <aside className="pane side" aria-label="Graphs">
        <div className="head">
          <h2 className="grow">Graphs</h2>
          <button type="button" className="btn small" onClick={() => navigate(address("graphs", NEW))}>
            <Plus className="i i-s" aria-hidden />
            New
          </button>
        </div>
        <div className="scroll">
          {list.problem && !list.data && <ProblemNotice problem={list.problem} onRetry={list.reload} />}
          <ul className="srcs">
            {graphs.map((graph) => (
              <li key={graph.name}>
                <Link
                  className={`suite ${graph.name === current ? "cur" : ""}`}
                  href={address("graphs", graph.name)}
                  aria-current={graph.name === current ? "true" : undefined}
                >
                  <b className="clip">{graph.name}</b>
                  <span className="m">
                    v{graph.version} · {when(graph.name)}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
          {list.data && !graphs.length && (
            <p className="none dim caption">
              A graph is a file of steps: queries, questions, programs, agents and decisions of people. It runs durably,
              by hand or at certain times.
            </p>
          )}
          <ReadyMadeList templates={templates} current={isNew ? run : null} />
          {current && document.data && (
            <Versions name={current} compared={compared} onCompare={(version) => setCompared(version)} />
          )}
        </div>
      </aside>
      {isNew && begin ? (
        <GraphEditor
          key={run ?? NEW}
          document={null}
          begin={begin}
          run={null}
          compared={null}
          onCompare={setCompared}
        />
      ) : list.data && !current && !isNew ? (
        <ReadyMade templates={templates} />
      ) : document.data ? (
        <GraphEditor
          key={current}
          document={document.data}
          begin={document.data.text}
          run={run}
          compared={compared}
          onCompare={setCompared}
        />
      ) : (
        <section className="pane">
          {document.problem ? (
            <ProblemNotice problem={document.problem} onRetry={document.reload} />
          ) : (
            <SkeletonRows rows={8} columns={3} />
          )}
        </section>
      )}
    </main>
  );
}
