import { use, Suspense } from "react";

export type Language = "sql" | "python" | "yaml";

type Highlight = typeof import("./highlight").highlight;
let loading: Promise<Highlight> | undefined;

/** Code as text, with its words coloured once the colouring has been fetched. */
export function Code({ text, language }: { text: string; language: Language }) {
  return (
    <pre className="code" tabIndex={0} aria-label={`${language} code`}>
      <Suspense fallback={text}>
        <Coloured text={text} language={language} />
      </Suspense>
    </pre>
  );
}

function Coloured({ text, language }: { text: string; language: Language }) {
  loading ??= import("./highlight").then((module) => module.highlight);
  const highlight = use(loading);
  return highlight(text, language).map(([piece, style], i) =>
    style ? (
      <span key={i} className={style}>
        {piece}
      </span>
    ) : (
      piece
    ),
  );
}
