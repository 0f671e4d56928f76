import { Activity, Database, ListChecks, MessageSquareText, SlidersHorizontal, Workflow } from "lucide-react";
import { Link } from "../shared/Link";
import { address, type View } from "../shared/router";

const PLACES = [
  ["ask", "Ask", MessageSquareText],
  ["sources", "Sources", Database],
  ["graphs", "Graphs", Workflow],
  ["runs", "Runs", Activity],
  ["evals", "Evals", ListChecks],
  ["settings", "Settings", SlidersHorizontal],
] as const;

/** The navigation at the bottom of a phone. */
export function Dock({ view }: { view: View }) {
  return (
    <nav className="dock" aria-label="Views">
      {PLACES.map(([name, label, Icon]) => (
        <Link key={name} href={address(name)} aria-current={view === name ? "page" : undefined}>
          <Icon className="i" aria-hidden />
          {label}
        </Link>
      ))}
    </nav>
  );
}
