import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { path } from "../api/client";
import type { QuestionList, SuggestedQuestion } from "../api/types";
import { useFetched } from "../shared/fetched";
import { count } from "../shared/format";
import { ProblemNotice } from "../shared/Notice";
import { figureOf, type SmallFigure } from "./smallFigure";

/** Questions that were run beforehand, each with its answer in small. */
export function Suggestions({ source, onAsk }: { source: string; onAsk: (question: string) => void }) {
  const { data, problem, reload } = useFetched<QuestionList>(path`/sources/${source}/questions`);
  return (
    <>
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      <ul className="suggested" hidden={!data} aria-label="Questions to begin with">
        {data?.questions.map((each) => (
          <li key={each.question}>
            <Suggestion suggestion={each} onAsk={onAsk} />
          </li>
        ))}
      </ul>
      {!data && !problem && (
        <SuggestionsToCome>Questions are being tried, to show you some with their answers.</SuggestionsToCome>
      )}
    </>
  );
}

/** Keeps the place of suggestions, so that nothing jumps when they come. */
export function SuggestionsToCome({ children }: { children?: ReactNode }) {
  return (
    <div className="suggested">
      {[0, 1, 2, 3].map((place) => (
        <div key={place} className="suggestion to-come">
          {place === 0 && children ? (
            <span className="dim">{children}</span>
          ) : (
            <>
              <span className="skel" />
              <span className="skel" />
              <span className="skel" />
            </>
          )}
        </div>
      ))}
    </div>
  );
}

function Suggestion({ suggestion, onAsk }: { suggestion: SuggestedQuestion; onAsk: (question: string) => void }) {
  const figure = figureOf(suggestion.rows, suggestion.row_count);
  return (
    <button type="button" className="suggestion" onClick={() => onAsk(suggestion.question)}>
      <span className="q">
        <span className="grow">{suggestion.question}</span>
        <ChevronRight className="i i-s" aria-hidden />
      </span>
      {figure ? <Figure figure={figure} /> : <span className="dim clip">{suggestion.answer}</span>}
    </button>
  );
}

const WIDTH = 100;
const HEIGHT = 40;

function Figure({ figure }: { figure: SmallFigure }) {
  switch (figure.kind) {
    case "value":
      return <span className="v num">{figure.text}</span>;
    case "bars":
      return (
        <span className="ranked">
          {figure.bars.map(({ label, value, share }) => (
            <span key={label} className="b">
              <span className="clip">{label}</span>
              <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden>
                <rect width={WIDTH * share} height="10" />
              </svg>
              <span className="num">{value}</span>
            </span>
          ))}
          <span className="dim">{figure.more > 0 ? `and ${count(figure.more)} more` : ""}</span>
        </span>
      );
    case "series":
      return (
        <span className="series">
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
            {figure.shares.map((share, place) => {
              const step = WIDTH / figure.shares.length;
              return (
                <rect
                  key={place}
                  x={place * step}
                  y={HEIGHT * (1 - share)}
                  width={step * 0.82}
                  height={HEIGHT * share}
                />
              );
            })}
          </svg>
          <span className="dim num">{figure.range}</span>
        </span>
      );
  }
}
