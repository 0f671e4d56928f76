import { Check } from "lucide-react";
import { Fragment, useState } from "react";
import type { PlanChange, PlanOption } from "../api/types";
import { SearchField } from "../shared/Field";

const FEW = 8;

/** What a part of the plan can be changed to. A long list can be searched. */
export function Options({ options, onPick }: { options: PlanOption[]; onPick: (change: PlanChange) => void }) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const shown = options.filter(({ label, heading }) => `${heading ?? ""} ${label}`.toLowerCase().includes(wanted));
  return (
    <>
      {options.length > FEW && <SearchField label="Find" value={text} onChange={setText} />}
      <div className="opts" role="radiogroup" aria-label="Options">
        {shown.map((option, i) => (
          <Fragment key={`${option.heading} ${option.label}`}>
            {option.heading && option.heading !== shown[i - 1]?.heading && <p className="label">{option.heading}</p>}
            <Option
              label={option.label}
              detail={option.detail}
              chosen={option.chosen}
              onPick={() => onPick(option.change)}
            />
          </Fragment>
        ))}
        {!shown.length && <p className="dim none">Nothing is called that.</p>}
      </div>
    </>
  );
}

interface OptionProps {
  label: string;
  detail: string | null;
  chosen?: boolean;
  onPick: () => void;
}

export function Option({ label, detail, chosen = false, onPick }: OptionProps) {
  return (
    <button type="button" className="opt" role="radio" aria-checked={chosen} onClick={onPick}>
      <Check className="i i-s" aria-hidden />
      <span className="clip">{label}</span>
      {detail && <span className="dim num clip">{detail}</span>}
    </button>
  );
}
