import { ArrowUpRight, ChevronLeft, X } from "lucide-react";
import { api, path } from "../api/client";
import type { WrongAnswer, WrongAnswerList } from "../api/types";
import { type Fetched, refresh } from "../shared/fetched";
import { moment } from "../shared/format";
import { Link } from "../shared/Link";
import { ProblemNotice } from "../shared/Notice";
import { address } from "../shared/router";
import { SkeletonRows } from "../shared/Skeleton";
import { toast } from "../shared/toasts";

export const TO_MEND = "to-mend";

const WORDS: Record<WrongAnswer["what"], string> = {
  rows: "Rows are missing or too many",
  meaning: "Something else was meant",
  number: "A number is wrong",
  wording: "The wording is wrong",
};

/** The answers that were called wrong, until their questions have a right one. */
export function ToMend({ list }: { list: Fetched<WrongAnswerList> }) {
  const answers = list.data?.answers;
  return (
    <section className="pane mend" aria-label="Answers to mend">
      <div className="head">
        <Link className="btn ghost icon to-list" href="/evals" aria-label="Back to the sets of questions">
          <ChevronLeft className="i" aria-hidden />
        </Link>
        <h2 className="clip grow">To mend</h2>
      </div>
      <div className="scroll" tabIndex={0}>
        {list.problem && !answers && <ProblemNotice problem={list.problem} onRetry={list.reload} />}
        {!answers && list.loading && <SkeletonRows rows={6} columns={2} />}
        {answers?.length === 0 && (
          <p className="none dim">
            No answer was called wrong. A question leaves this list when it gets a golden answer.
          </p>
        )}
        <ul className="mends">
          {answers?.map((wrong) => (
            <Wrong key={wrong.run_id} wrong={wrong} />
          ))}
        </ul>
      </div>
    </section>
  );
}

function Wrong({ wrong }: { wrong: WrongAnswer }) {
  const takeBack = async () => {
    await api.remove(path`/wrong-answers/${wrong.run_id}`);
    toast("No longer called wrong");
    refresh("/wrong-answers");
  };
  return (
    <li>
      <div className="row">
        <h3 className="grow">{wrong.question}</h3>
        <Link className="btn small" href={address("runs", wrong.run_id)}>
          <ArrowUpRight className="i i-s" aria-hidden />
          Its run
        </Link>
        <button
          type="button"
          className="btn ghost icon small"
          aria-label={`No longer call this wrong: ${wrong.question}`}
          title="No longer call this wrong"
          onClick={() => void takeBack()}
        >
          <X className="i i-s" aria-hidden />
        </button>
      </div>
      <p>
        <b>{WORDS[wrong.what]}.</b> {wrong.note}
      </p>
      {wrong.understood && <p className="mid">Was read as: {wrong.understood}</p>}
      <p className="caption dim">
        {wrong.source} · {moment(wrong.made_at)} · {wrong.user}
      </p>
    </li>
  );
}
