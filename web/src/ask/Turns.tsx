import { ArrowDown } from "lucide-react";
import { memo, useEffect, useRef, useState } from "react";
import type { Turn } from "../run/conversations";
import { type TurnActions, TurnView } from "./TurnView";

interface Props {
  turns: Turn[];
  actions: TurnActions;
  editing: string | null;
  onEdit: (turn: string | null) => void;
}

const NEAR_END = 80;

/** Scrolls to the newest answer only while the user is at the end. Otherwise a button leads there. */
export const Turns = memo(function Turns({ turns, actions, editing, onEdit }: Props) {
  const scroll = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const top = useRef(0);
  const [behind, setBehind] = useState(false);

  const asked = turns.at(-1)?.messageId === null ? turns.at(-1)?.key : null;

  useEffect(() => {
    if (asked) atEnd.current = true; // a user who asks wants to see the answer
  }, [asked]);

  useEffect(() => {
    if (!atEnd.current) setBehind(true);
  }, [turns]);

  // An observer runs after the browser's own layout; asking for the height would cause a second layout.
  useEffect(() => {
    const node = scroll.current;
    if (!node || !content.current) return undefined;
    const observer = new ResizeObserver(() => {
      if (atEnd.current) node.scrollTop = node.scrollHeight;
    });
    observer.observe(node);
    observer.observe(content.current);
    return () => observer.disconnect();
  }, []);

  function toEnd() {
    scroll.current?.scrollTo({ top: scroll.current.scrollHeight, behavior: "smooth" });
  }

  return (
    <>
      <div
        className="scroll"
        ref={scroll}
        tabIndex={0}
        role="region"
        aria-label="Questions and answers"
        onScroll={({ currentTarget: node }) => {
          const near = node.scrollHeight - node.scrollTop - node.clientHeight < NEAR_END;
          const up = node.scrollTop < top.current; // only the user scrolls up: content that grows moves the end down
          atEnd.current = near || (atEnd.current && !up);
          top.current = node.scrollTop;
          if (atEnd.current) setBehind(false);
        }}
      >
        <div className="turns" ref={content}>
          {turns.map((turn, i) => (
            <TurnView
              key={turn.key}
              turn={turn}
              chosen={chosenBy(turn, turns[i + 1])}
              repeats={isAnswerTo(turns[i - 1], turn)}
              newest={i === turns.length - 1}
              actions={actions}
              editing={editing === turn.key}
              onEdit={(open) => onEdit(open ? turn.key : null)}
            />
          ))}
        </div>
      </div>
      {behind && (
        <button type="button" className="btn small to-end float" onClick={toEnd}>
          <ArrowDown className="i i-s" aria-hidden />
          New answer
        </button>
      )}
    </>
  );
});

/** Whether `next` answers the question back of `turn`: then it has the same question. */
function isAnswerTo(turn: Turn | undefined, next: Turn | undefined): boolean {
  return turn?.run.answer?.kind === "clarify" && next?.question === turn.question;
}

function chosenBy(turn: Turn, next: Turn | undefined): string | null {
  if (!isAnswerTo(turn, next)) return null;
  const picked = turn.run.answer?.choices.find((choice) => choice.id === next?.choice);
  return picked?.source ?? picked?.label ?? next?.run.answer?.provenance.understood ?? "another reading";
}
