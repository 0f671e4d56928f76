import { type ReactNode, useEffect, useRef, useState } from "react";
import type { CellFormat } from "../answer/cells";

interface Props {
  formats: CellFormat[];
  hidden: ReadonlySet<number>;
  onHidden: (hidden: ReadonlySet<number>) => void;
  children: ReactNode;
}

/** Shows and hides columns. At least one stays visible. */
export function ColumnsMenu({ formats, hidden, onHidden, children }: Props) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return undefined;
    const outside = (event: PointerEvent) => !root.current?.contains(event.target as Node) && setOpen(false);
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);

  function toggle(index: number) {
    const next = new Set(hidden);
    if (!next.delete(index)) next.add(index);
    if (next.size < formats.length) onHidden(next);
  }

  return (
    <div
      className="menu hide-s"
      ref={root}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        setOpen(false);
      }}
    >
      <button type="button" className="btn ghost small" aria-expanded={open} onClick={() => setOpen(!open)}>
        {children}
      </button>
      {open && (
        <fieldset className="menu-list float">
          <legend className="vh">Columns to show</legend>
          {formats.map((format, i) => (
            <label key={i}>
              <input type="checkbox" checked={!hidden.has(i)} onChange={() => toggle(i)} />
              <span className="clip">{format.header}</span>
            </label>
          ))}
        </fieldset>
      )}
    </div>
  );
}
