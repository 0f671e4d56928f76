import { SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { path } from "../api/client";
import type { Answer, PlanParts } from "../api/types";
import { changedParts } from "../plan/changedParts";
import { PlanChips } from "../plan/PlanChips";
import type { Turn } from "../run/conversations";
import { useFetched, useSteady } from "../shared/fetched";
import type { TurnActions } from "./TurnView";

interface Props {
  turn: Turn;
  answer: Answer;
  newest: boolean;
  actions: TurnActions;
}

/** How the question was read, as parts that can be changed. Those of older answers are fetched when they are asked for. */
export function AnswerPlan({ turn, answer, newest, actions }: Props) {
  const [wanted, setWanted] = useState(false);
  const hasPlan = answer.provenance.plan !== null && answer.provenance.sources.length === 1;
  const open = newest || wanted || turn.former.length > 0;
  const parts = useSteady(useFetched<PlanParts>(hasPlan && open ? path`/runs/${answer.run_id}/plan` : null));
  const first = turn.former[0]?.id;
  const before = useFetched<PlanParts>(first ? path`/runs/${first}/plan` : null);
  if (!hasPlan) return null;
  if (!open)
    return (
      <div className="pchips">
        <button type="button" className="btn ghost small change" onClick={() => setWanted(true)}>
          <SlidersHorizontal className="i i-s" aria-hidden />
          Change
        </button>
      </div>
    );
  if (!parts.data) return <div className="pchips waiting" aria-hidden />;
  return (
    <PlanChips
      parts={parts.data}
      changed={before.data ? changedParts(before.data.parts, parts.data.parts) : NOTHING}
      busy={turn.changing}
      onChange={(changes) => actions.change(turn, changes)}
      onUndo={turn.former.length ? () => actions.undo(turn) : undefined}
    />
  );
}

const NOTHING: ReadonlySet<string> = new Set();
