import { type ReactNode, useEffect, useId, useRef, useState } from "react";

interface Props {
  label: string;
  className: string;
  /** What the button shows. */
  button: ReactNode;
  disabled?: boolean;
  /** What opens. `close` also returns the focus to the button. */
  children: (close: () => void) => ReactNode;
}

const GAP = 4;
const EDGE = 8;
const ENOUGH = 300;
const PHONE = "(max-width: 719px)";

/**
 * A button that opens a panel above everything else: below the button, above it where there is more room, and as a sheet at
 * the bottom of a phone. The browser closes it on Escape and on a press elsewhere.
 */
export function Popover({ label, className, button, disabled, children }: Props) {
  const [open, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    panel.current?.showPopover();
    if (opener.current && panel.current) place(panel.current, opener.current);
    const first = panel.current?.querySelector<HTMLElement>("input, select, [aria-checked=true], button");
    first?.focus({ preventScroll: true });
  }, [open]);
  const close = () => {
    panel.current?.hidePopover();
    opener.current?.focus({ preventScroll: true });
  };
  return (
    <>
      <button
        ref={opener}
        type="button"
        className={className}
        disabled={disabled}
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {button}
      </button>
      {open && (
        <div
          ref={panel}
          id={id}
          popover="auto"
          className="pop float"
          role="dialog"
          aria-label={label}
          onToggle={(event) => event.newState === "closed" && setOpen(false)}
          onKeyDown={(event) => {
            if (event.key === "Escape") event.stopPropagation();
            moveFocus(event);
          }}
        >
          {children(close)}
        </div>
      )}
    </>
  );
}

/** Arrow keys move through the options. */
function moveFocus(event: React.KeyboardEvent<HTMLDivElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const options = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=radio]")];
  if (!options.length || (event.target as HTMLElement).tagName === "SELECT") return;
  event.preventDefault();
  const at = options.indexOf(document.activeElement as HTMLElement);
  const next = at < 0 ? 0 : at + (event.key === "ArrowDown" ? 1 : -1);
  options[(next + options.length) % options.length]?.focus();
}

function place(panel: HTMLElement, opener: HTMLElement): void {
  if (matchMedia(PHONE).matches) return; // the style sheet makes it a sheet
  const box = opener.getBoundingClientRect();
  const { width, height } = panel.getBoundingClientRect();
  const below = innerHeight - box.bottom - GAP - EDGE;
  const above = box.top - GAP - EDGE;
  const isBelow = height <= below || below >= Math.min(above, ENOUGH);
  panel.style.left = `${Math.max(EDGE, Math.min(box.left, innerWidth - width - EDGE))}px`;
  panel.style.maxHeight = `${Math.min(460, isBelow ? below : above)}px`;
  panel.style[isBelow ? "top" : "bottom"] = `${isBelow ? box.bottom + GAP : innerHeight - box.top + GAP}px`;
}
