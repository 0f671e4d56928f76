import { Fragment, type ReactNode, useEffect, useId, useRef, useState } from "react";

export interface MenuItem {
  label: string;
  /** The heading of the item's group; shown once above consecutive items of the group. */
  group?: string;
  note?: string;
  icon?: ReactNode;
  danger?: boolean;
  href?: string;
  download?: string;
  onSelect?: () => void;
}

interface Props {
  label: string;
  className?: string;
  children: ReactNode;
  items: MenuItem[];
  disabled?: string;
}

/** A button that opens a list of actions. Arrow keys move through it; Escape closes it and focuses the button. */
export function Menu({ label, className = "btn small", children, items, disabled }: Props) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return undefined;
    root.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const outside = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);

  function onKeyDown(event: React.KeyboardEvent) {
    if (event.key === "Escape") {
      event.stopPropagation();
      setOpen(false);
      button.current?.focus();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const all = [...(root.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[(at + (event.key === "ArrowDown" ? 1 : -1) + all.length) % all.length]?.focus();
  }

  return (
    <div className="menu" ref={root} onKeyDown={open ? onKeyDown : undefined}>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={label}
        title={disabled ?? label}
        disabled={disabled !== undefined}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {children}
      </button>
      {open && (
        <div className="menu-list float" role="menu" id={id} aria-label={label}>
          {items.map((item, i) => (
            <Fragment key={`${item.group} ${item.label}`}>
              {item.group && item.group !== items[i - 1]?.group && (
                <p className="label menu-group clip">{item.group}</p>
              )}
              <Item item={item} close={() => setOpen(false)} />
            </Fragment>
          ))}
        </div>
      )}
    </div>
  );
}

function Item({ item, close }: { item: MenuItem; close: () => void }) {
  const content = (
    <>
      {item.icon}
      <span className="grow">{item.label}</span>
      {item.note && <span className="dim caption">{item.note}</span>}
    </>
  );
  const select = () => {
    close();
    item.onSelect?.();
  };
  const className = item.danger ? "danger" : undefined;
  if (item.href) {
    return (
      <a role="menuitem" className={className} href={item.href} download={item.download} onClick={select}>
        {content}
      </a>
    );
  }
  return (
    <button type="button" role="menuitem" className={className} onClick={select}>
      {content}
    </button>
  );
}
