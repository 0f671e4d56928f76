import { ArrowUp, ChevronDown, Database, Plus, X } from "lucide-react";
import { Fragment, type RefObject, useState } from "react";
import type { About } from "../api/types";
import { useFetched } from "../shared/fetched";
import { Menu } from "../shared/Menu";
import { chipsOf } from "./chips";

interface Props {
  field: RefObject<HTMLTextAreaElement | null>;
  placeholder: string;
  sources: string[];
  chosen: string[];
  onChosen: (sources: string[]) => void;
  onAsk: (question: string) => void;
  /** Called for a digit while nothing is written. Returns whether it chose an answer to a question back. */
  onDigit: (digit: number) => boolean;
  onEditLast?: () => void;
}

const MOST_LINES = 8;

export function Composer({ field, placeholder, sources, chosen, onChosen, onAsk, onDigit, onEditLast }: Props) {
  const [text, setText] = useState("");
  const ready = text.trim() !== "";

  function submit(event: React.FormEvent) {
    event.preventDefault();
    if (!ready) return;
    onAsk(text.trim());
    setText("");
  }

  function onKeyDown(event: React.KeyboardEvent<HTMLTextAreaElement>) {
    if (event.key === "ArrowUp" && text === "" && onEditLast) {
      event.preventDefault();
      onEditLast();
    }
    if (text === "" && /^[1-9]$/.test(event.key) && !isModified(event) && onDigit(Number(event.key)))
      event.preventDefault();
    if (event.key === "Escape") {
      event.preventDefault(); // it leaves the field, and closes nothing else
      event.currentTarget.blur();
    }
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  }

  return (
    <form className="composer" onSubmit={submit}>
      <textarea
        ref={field}
        id="question"
        rows={Math.min(MOST_LINES, text.split("\n").length)}
        maxLength={10_000}
        placeholder={placeholder}
        aria-label="Question"
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="row">
        <SourceChips sources={sources} chosen={chosen} onChosen={onChosen} />
        <AsWritten />
        <button
          type="submit"
          className="btn primary icon send"
          aria-label="Ask"
          title={ready ? "Ask  Enter" : "Write a question first"}
          disabled={!ready}
        >
          <ArrowUp className="i" aria-hidden />
        </button>
      </div>
    </form>
  );
}

/** The prefixes (`SQL:`) of messages that this server runs as written. */
function AsWritten() {
  const { data } = useFetched<About>("/about");
  if (!data) return null;
  return (
    <span className="caption dim hide-s hint">
      {data.runs_as_written.map((prefix, i) => (
        <Fragment key={prefix}>
          {i > 0 && " or "}
          <span className="mono">{prefix.toUpperCase()}:</span>
        </Fragment>
      ))}{" "}
      runs as written
    </span>
  );
}

function isModified(event: { ctrlKey: boolean; metaKey: boolean; altKey: boolean }): boolean {
  return event.ctrlKey || event.metaKey || event.altKey;
}

/** Chooses the sources of the question. Choosing one replaces the others; with Ctrl, ⌘ or the menu “+” it is added. */
function SourceChips({ sources, chosen, onChosen }: Pick<Props, "sources" | "chosen" | "onChosen">) {
  const [shown, rest] = chipsOf(sources, chosen);
  const others = sources.filter((name) => !chosen.includes(name));
  const without = (name: string) => chosen.filter((other) => other !== name);
  return (
    <div className="source-chips" role="group" aria-label="Sources to ask">
      <span className="caption dim hide-s">Asks</span>
      {shown.map((name) => {
        const on = chosen.includes(name);
        const alone = on && chosen.length === 1;
        return (
          <span key={name} className={`chip ${on ? "on" : ""}`}>
            <button
              type="button"
              aria-pressed={on}
              title={alone ? `${name} is asked` : `Ask only ${name}`}
              onClick={(event) => onChosen(isModified(event) && !on ? [...chosen, name] : [name])}
            >
              <Database className="i i-s" aria-hidden />
              <span className="clip">{name}</span>
            </button>
            {on && !alone && (
              <button
                type="button"
                className="cx"
                aria-label={`Do not ask ${name}`}
                onClick={() => onChosen(without(name))}
              >
                <X className="i i-xs" aria-hidden />
              </button>
            )}
          </span>
        );
      })}
      {rest.length > 0 && (
        <Menu
          label={`${rest.length} more to ask`}
          className="chip"
          items={rest.map((name) => ({ label: name, group: "Other sources", onSelect: () => onChosen([name]) }))}
        >
          {rest.length} more
          <ChevronDown className="i i-xs" aria-hidden />
        </Menu>
      )}
      {others.length > 0 && chosen.length > 0 && (
        <Menu
          label="Ask another source too"
          className="chip add"
          items={others.map((name) => ({ label: name, group: "Ask too", onSelect: () => onChosen([...chosen, name]) }))}
        >
          <Plus className="i i-xs" aria-hidden />
        </Menu>
      )}
    </div>
  );
}
