import { ChevronDown, Plus, Undo2, X } from "lucide-react";
import type { PlanChange, PlanPart, PlanParts } from "../api/types";
import { Popover } from "../shared/Popover";
import { FilterForm } from "./FilterForm";
import { Options } from "./Options";
import "./plan.css";

const WORDS: Record<PlanPart["kind"], [now: string, add: string]> = {
  measure: ["Measure", "Measure"],
  group: ["By", "Group"],
  filter: ["Where", "Filter"],
  period: ["Period", "Period"],
  order: ["Order", "Order"],
};

interface Props {
  parts: PlanParts;
  /** The kinds of parts that differ from the answer that came first. */
  changed: ReadonlySet<string>;
  busy: boolean;
  onChange: (changes: PlanChange[]) => void;
  onUndo?: () => void;
}

/** The parts of an answer's plan. Each opens to what it can be changed to; a choice runs at once. */
export function PlanChips({ parts, changed, busy, onChange, onUndo }: Props) {
  const filters = parts.parts.filter((part) => part.kind === "filter");
  const set = parts.parts.filter((part) => part.label && part.kind !== "filter");
  const unset = parts.parts.filter((part) => !part.label && part.options.length > 0);
  const ordered = ["measure", "group", "filter", "period", "order"];
  const shown = [...set, ...filters].sort((a, b) => ordered.indexOf(a.kind) - ordered.indexOf(b.kind));
  const chips = { parts, busy, onChange };
  if (!parts.parts.length) return null;
  return (
    <div className="pchips" role="group" aria-label="How it was read" aria-busy={busy}>
      {shown.map((part, i) => (
        <Chip key={`${part.kind} ${i}`} part={part} isChanged={changed.has(part.kind)} {...chips} />
      ))}
      {unset.map((part) => (
        <Chip key={part.kind} part={part} isChanged={changed.has(part.kind)} {...chips} />
      ))}
      {parts.columns.length > 0 && parts.source && (
        <Popover label="Add a filter" className="pchip add" disabled={busy} button={<Adding kind="filter" />}>
          {(close) => (
            <>
              <FilterForm
                source={parts.source ?? ""}
                columns={parts.columns}
                onPick={(change) => {
                  close();
                  onChange([change]);
                }}
              />
              <Foot />
            </>
          )}
        </Popover>
      )}
      {onUndo && (
        <button type="button" className="btn ghost small" disabled={busy} onClick={onUndo}>
          <Undo2 className="i i-s" aria-hidden />
          Undo
        </button>
      )}
    </div>
  );
}

interface ChipProps extends Pick<Props, "parts" | "busy" | "onChange"> {
  part: PlanPart;
  isChanged: boolean;
}

function Chip({ part, isChanged, parts, busy, onChange }: ChipProps) {
  const [word] = WORDS[part.kind];
  const { remove } = part;
  const removable = remove && part.kind !== "group";
  const tint = isChanged && part.label ? "changed" : "";
  const button = part.label ? (
    <>
      <i>{word}</i>
      <b>{part.label}</b>
      <ChevronDown className="i i-xs" aria-hidden />
    </>
  ) : (
    <Adding kind={part.kind} />
  );
  if (part.kind === "filter" && !part.options.length) {
    return (
      <span className={`pchip fixed ${tint}`}>
        <i>{word}</i>
        <b>{part.label}</b>
        {remove && <Remove label={part.label} busy={busy} onRemove={() => onChange([remove])} />}
      </span>
    );
  }
  return (
    <span className="pchip-with">
      <Popover label={word} className={`pchip ${part.label ? tint : "add"}`} disabled={busy} button={button}>
        {(close) => {
          const pick = (change: PlanChange) => {
            close();
            onChange([change]);
          };
          const column = parts.columns.find((known) => isSame(known.place, part.place));
          return (
            <>
              {part.kind === "filter" && column && part.number !== null ? (
                <FilterForm
                  source={parts.source ?? ""}
                  columns={parts.columns}
                  now={{ column, number: part.number, values: part.values }}
                  onPick={pick}
                />
              ) : (
                <Options
                  options={
                    part.kind === "group" && remove
                      ? [...part.options, { ...NOT_GROUPED, change: remove }]
                      : part.options
                  }
                  onPick={pick}
                />
              )}
              <Foot />
            </>
          );
        }}
      </Popover>
      {removable && part.label && <Remove label={part.label} busy={busy} onRemove={() => onChange([remove])} />}
    </span>
  );
}

const NOT_GROUPED = { label: "Not grouped", detail: "one number", heading: "Instead", chosen: false };

function Adding({ kind }: { kind: PlanPart["kind"] }) {
  return (
    <>
      <Plus className="i i-xs" aria-hidden />
      {WORDS[kind][1]}
    </>
  );
}

function Remove({ label, busy, onRemove }: { label: string; busy: boolean; onRemove: () => void }) {
  return (
    <button type="button" className="px" disabled={busy} aria-label={`Remove: ${label}`} onClick={onRemove}>
      <X className="i i-xs" aria-hidden />
    </button>
  );
}

function Foot() {
  return <footer>Runs at once. The question stays as it was asked, and Undo brings this answer back.</footer>;
}

function isSame(a: PlanPart["place"], b: PlanPart["place"]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
