const WORDS: Record<string, string> = { "+": "added", "-": "removed", " ": "", "…": "gap" };
const SIGNS: Record<string, string> = { "+": "+", "-": "−", " ": " ", "…": "⋯" };

/** Added and removed lines, each with its sign. */
export function Difference({
  lines,
  label,
}: {
  lines: readonly (readonly [sign: string, line: string])[];
  label: string;
}) {
  return (
    <pre className="code diff-text" tabIndex={0} aria-label={label}>
      {lines.map(([sign, line], i) => (
        <span key={i} className={WORDS[sign]}>
          {SIGNS[sign]} {line}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
