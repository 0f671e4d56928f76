import type { Answer } from "../api/types";
import { duration, money, plural } from "../shared/format";
import { phrases } from "./phrases";

const BARS = { high: 3, medium: 2, low: 1 } as const;

interface Props {
  answer: Answer;
  question: string;
  /** How long understanding took; null if unknown. */
  ms: number | null;
  /** The bindings that are highlighted, here and in the code. */
  lit: ReadonlySet<number>;
  onLit: (binding: number | null) => void;
}

const NOT_USED = "not used";

/** The question, with its meaning below each phrase, and the confidence. Pointing at a phrase highlights its code. */
export function Understood({ answer, question, ms, lit, onLit }: Props) {
  const { bindings, understood, confidence, confidence_reason: reason, mind } = answer.provenance;
  const { model_calls: calls, cost_usd: cost } = answer.usage;
  const facts = [
    mind,
    calls ? `${plural(calls, "model call")}, ${money(cost)}` : "no model, 0.00 USD",
    ms !== null && duration(ms),
  ];
  return (
    <section>
      <h3>
        Understood
        <span className="rt num">{facts.filter(Boolean).join(", ")}</span>
      </h3>
      {bindings.length > 0 && (
        <p className="understood">
          {phrases(question, bindings).map(({ text, meaning, binding }, i) =>
            binding === null ? (
              <span key={i}>{text}</span>
            ) : (
              <span
                key={i}
                tabIndex={0}
                className={`tied ${lit.has(binding) ? "lit" : ""} ${meaning === NOT_USED ? "unused" : ""}`}
                onMouseEnter={() => onLit(binding)}
                onMouseLeave={() => onLit(null)}
                onFocus={() => onLit(binding)}
                onBlur={() => onLit(null)}
              >
                <span className="b">{text}</span>
                <small>{meaning}</small>
              </span>
            ),
          )}
        </p>
      )}
      {understood && <p className={bindings.length ? "mid sentence" : "sentence lead"}>{understood}</p>}
      {confidence && (
        <p className={`row conf c-${confidence}`}>
          <span className="bars" aria-hidden>
            {[1, 2, 3].map((n) => (
              <i key={n} className={n <= BARS[confidence] ? "on" : undefined} />
            ))}
          </span>
          <b>{confidence[0]!.toUpperCase() + confidence.slice(1)} confidence</b>
          <span className="mid">{reason}</span>
        </p>
      )}
    </section>
  );
}
