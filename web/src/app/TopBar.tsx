import { CircleQuestionMark, PanelLeft, Plus, Search, SlidersHorizontal, SunMoon } from "lucide-react";
import { COMMAND_KEY } from "../shared/keys";
import { Link } from "../shared/Link";
import { Logo } from "../shared/Logo";
import { address, type View } from "../shared/router";
import { switchTheme } from "../shared/theme";

export const VIEW_NAMES: [View, string][] = [
  ["ask", "Ask"],
  ["sources", "Sources"],
  ["graphs", "Graphs"],
  ["runs", "Runs"],
  ["evals", "Evals"],
];

interface Props {
  view: View;
  title: string;
  onPalette: () => void;
  onHelp: () => void;
  onThreads: () => void;
  onNew: () => void;
}

export function TopBar({ view, title, onPalette, onHelp, onThreads, onNew }: Props) {
  return (
    <header className="bar">
      {view === "ask" && (
        <button type="button" className="btn ghost icon drawer-button" aria-label="Threads" onClick={onThreads}>
          <PanelLeft className="i" aria-hidden />
        </button>
      )}
      <Link className="brand" href="/" aria-label="Answerable">
        <Logo />
        <span className="hide-s">Answerable</span>
      </Link>
      <h1 className="ptitle clip grow">{title}</h1>
      <nav className="views" aria-label="Views">
        {VIEW_NAMES.map(([name, label]) => (
          <Link key={name} href={address(name)} aria-current={view === name ? "page" : undefined}>
            {label}
          </Link>
        ))}
      </nav>
      <button type="button" className="cmdk" onClick={onPalette}>
        <Search className="i i-s" aria-hidden />
        <span>Search or run a command</span>
        <kbd>{COMMAND_KEY} K</kbd>
      </button>
      <button
        type="button"
        className="btn ghost icon hide-s"
        aria-label="Keyboard help"
        title="Keyboard help  ?"
        onClick={onHelp}
      >
        <CircleQuestionMark className="i" aria-hidden />
      </button>
      <button
        type="button"
        className="btn ghost icon"
        aria-label="Switch between light and dark"
        title="Switch between light and dark"
        onClick={switchTheme}
      >
        <SunMoon className="i" aria-hidden />
      </button>
      <Link
        className="btn ghost icon hide-s"
        href="/settings"
        aria-label="Settings"
        title="Settings"
        aria-current={view === "settings" ? "page" : undefined}
      >
        <SlidersHorizontal className="i" aria-hidden />
      </Link>
      {view === "ask" && (
        <button type="button" className="btn ghost icon only-s" aria-label="New question" onClick={onNew}>
          <Plus className="i" aria-hidden />
        </button>
      )}
    </header>
  );
}
