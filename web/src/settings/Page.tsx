import { ChevronLeft } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "../shared/Link";

/** The frame of one page of the settings: a head like that of every pane, and what scrolls below it. */
export function Page({
  title,
  note,
  actions,
  children,
}: {
  title: string;
  note?: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <>
      <div className="head">
        <Link className="btn ghost icon back" href="/settings" aria-label="All settings">
          <ChevronLeft className="i" aria-hidden />
        </Link>
        <h2>{title}</h2>
        <span className="dim clip grow">{note}</span>
        {actions}
      </div>
      <div className="scroll" tabIndex={0} role="group" aria-label={title}>
        <div className="settings-page">{children}</div>
      </div>
    </>
  );
}
