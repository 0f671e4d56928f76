import { useEffect, useState } from "react";
import { api, Problem } from "../api/client";
import type { GraphReport } from "../api/types";

const TYPING_MS = 250;

export interface Draft {
  text: string;
  /** The text that came from outside of the text editor, which shows it anew then. */
  shown: string;
  /** Of the last text that was right. It is drawn while a mistake is being mended. */
  report: GraphReport | null;
  problem: Problem | null;
  type: (text: string) => void;
  replace: (text: string) => void;
}

/** The text that is edited, checked by the server as it is typed. */
export function useDraft(saved: string): Draft {
  const [{ text, shown }, setText] = useState({ text: saved, shown: saved });
  const [report, setReport] = useState<GraphReport | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => setText({ text: saved, shown: saved }), [saved]);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(async () => {
      try {
        const found = await api.post<GraphReport>("/graphs/validate", { text });
        if (!current) return;
        setReport(found);
        setProblem(null);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (current) setProblem(error);
      }
    }, TYPING_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text]);
  return {
    text,
    shown,
    report,
    problem,
    type: (typed) => setText((now) => ({ ...now, text: typed })),
    replace: (next) => setText({ text: next, shown: next }),
  };
}
