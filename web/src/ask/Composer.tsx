import { ArrowUp, ChevronDown, Database } from "lucide-react";
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
  onEditLast?: () => void;
}

const MOST_LINES = 8;

export function Composer({ field, placeholder, sources, chosen, onChosen, onAsk, onEditLast }: Props) {
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
    if (event.key === "Escape") event.currentTarget.blur();
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
        {sources.length < 4 && <AsWritten />}
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

/** Chooses the sources of the question. At least one stays chosen. */
function SourceChips({ sources, chosen, onChosen }: Pick<Props, "sources" | "chosen" | "onChosen">) {
  const [shown, rest] = chipsOf(sources, chosen);
  return (
    <div className="source-chips" role="group" aria-label="Sources to ask">
      {shown.map((name) => {
        const on = chosen.includes(name);
        const next = on ? chosen.filter((other) => other !== name) : [...chosen, name];
        return (
          <button
            key={name}
            type="button"
            className={`chip ${on ? "on" : ""}`}
            aria-pressed={on}
            title={on ? `${name} is asked` : `Ask ${name} too`}
            onClick={() => next.length && onChosen(next)}
          >
            <Database className="i i-s" aria-hidden />
            <span className="clip">{name}</span>
          </button>
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
    </div>
  );
}
