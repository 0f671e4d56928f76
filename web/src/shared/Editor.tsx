import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { PostgreSQL, sql } from "@codemirror/lang-sql";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import { isKnownLanguage } from "./languages";

interface Props {
  text: string;
  language: string;
  label: string;
  onChange: (text: string) => void;
  onSubmit?: () => void;
}

const LANGUAGES = { sql: () => sql({ dialect: PostgreSQL }), python, yaml };

const COLOURS = syntaxHighlighting(
  HighlightStyle.define([
    {
      tag: [tags.keyword, tags.operatorKeyword, tags.propertyName, tags.definition(tags.propertyName)],
      color: "var(--code-key)",
    },
    { tag: [tags.function(tags.variableName), tags.standard(tags.name), tags.typeName], color: "var(--code-fn)" },
    { tag: [tags.string, tags.special(tags.string)], color: "var(--code-str)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--code-num)" },
    { tag: [tags.comment, tags.punctuation], color: "var(--code-dim)" },
  ]),
);

const LOOK = EditorView.theme({
  "&": {
    fontSize: "var(--text-code)",
    color: "var(--ink)",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line-control)",
    borderRadius: "var(--radius-2)",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "var(--lead-code)", maxHeight: "60vh" },
  ".cm-content": { caretColor: "var(--accent)" },
  ".cm-gutters": { backgroundColor: "var(--surface-2)", color: "var(--ink-3)", border: "none" },
  ".cm-cursor": { borderLeftColor: "var(--accent)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-line) !important" },
});

/**
 * A code editor. It lives in a shadow root, because CodeMirror adds its styles there as adopted style sheets, which the
 * Content-Security-Policy allows; in the document it would add inline styles, which the policy forbids.
 */
export default function Editor({ text, language, label, onChange, onSubmit }: Props) {
  const holder = useRef<HTMLDivElement>(null);
  const callbacks = useRef({ onChange, onSubmit });
  callbacks.current = { onChange, onSubmit };
  useEffect(() => {
    const node = holder.current;
    if (!node) return undefined;
    const root = node.shadowRoot ?? node.attachShadow({ mode: "open" });
    const submit = () => {
      callbacks.current.onSubmit?.();
      return true;
    };
    const view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          EditorView.lineWrapping,
          isKnownLanguage(language) ? LANGUAGES[language]() : [],
          COLOURS,
          LOOK,
          EditorView.contentAttributes.of({ "aria-label": label }),
          keymap.of([{ key: "Mod-Enter", run: submit }, indentWithTab, ...defaultKeymap, ...historyKeymap]),
          EditorView.updateListener.of(
            (update) => update.docChanged && callbacks.current.onChange(update.state.doc.toString()),
          ),
        ],
      }),
    });
    view.scrollDOM.tabIndex = 0; // long text can be scrolled by keys, too
    return () => view.destroy();
  }, [text, language, label]);
  return <div className="editor" ref={holder} />;
}
