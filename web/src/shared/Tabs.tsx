import type { ReactNode } from "react";

export interface Tab<Name extends string> {
  name: Name;
  label: string;
  icon?: ReactNode;
  extra?: ReactNode;
}

interface Props<Name extends string> {
  label: string;
  tabs: Tab<Name>[];
  current: Name;
  onSelect: (name: Name) => void;
}

/** A row of tabs; arrow keys move between them. Spread `panelProps` into the element of the open panel. */
export function Tabs<Name extends string>({ label, tabs, current, onSelect }: Props<Name>) {
  function onKeyDown(event: React.KeyboardEvent<HTMLDivElement>) {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.name === current);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (!next) return;
    onSelect(next.name);
    event.currentTarget.querySelector<HTMLElement>(`#tab-${next.name}`)?.focus();
  }
  return (
    <div className="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map((tab) => (
        <button
          key={tab.name}
          type="button"
          role="tab"
          id={`tab-${tab.name}`}
          aria-selected={tab.name === current}
          aria-controls={tab.name === current ? `panel-${tab.name}` : undefined}
          tabIndex={tab.name === current ? 0 : -1}
          onClick={() => onSelect(tab.name)}
        >
          {tab.icon}
          {tab.label}
          {tab.extra}
        </button>
      ))}
    </div>
  );
}

export function panelProps(name: string) {
  return { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}` } as const;
}
