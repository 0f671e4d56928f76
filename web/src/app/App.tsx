import { Suspense, useEffect, useMemo, useState } from "react";
import { path } from "../api/client";
import type { IdentityState, ThreadSummary } from "../api/types";
import { AskView } from "../ask/AskView";
import { ask, DRAFT, startOver } from "../run/conversations";
import type { Command } from "../shared/commands";
import { useFetched } from "../shared/fetched";
import { COMMAND_KEY, useKeys } from "../shared/keys";
import { Link } from "../shared/Link";
import { LiveRegion } from "../shared/live";
import { address, navigate, type Route, useRoute } from "../shared/router";
import { SkeletonRows } from "../shared/Skeleton";
import { switchTheme } from "../shared/theme";
import { Toasts } from "../shared/toasts";
import { Boundary } from "./Boundary";
import { Connection } from "./Connection";
import { Dock } from "./Dock";
import { DropZone } from "./DropZone";
import { Help } from "./Help";
import { Palette } from "./Palette";
import { TopBar, VIEW_NAMES } from "./TopBar";
import { EvalsView, GraphsView, RunsView, SettingsView, SharedView, SourcesView } from "./views";

type Open = "palette" | "help" | null;

export function App() {
  const route = useRoute();
  const [open, setOpen] = useState<Open>(null);
  const [drawer, setDrawer] = useState(false);
  useEffect(() => setDrawer(false), [route]);
  const commands = useCommands(() => setOpen("help"));
  useKeys({
    "mod+k": () => setOpen("palette"),
    "?": () => setOpen("help"),
    "g a": () => navigate("/ask"),
    "g s": () => navigate("/sources"),
    "g g": () => navigate("/graphs"),
    "g r": () => navigate("/runs"),
    "g e": () => navigate("/evals"),
    ...(route.view !== "ask" && { n: newQuestion, "/": () => navigate("/ask") }),
  });
  return (
    <>
      <a className="skip" href={route.view === "ask" ? "#question" : "#content"}>
        {route.view === "ask" ? "Skip to the question" : "Skip to the content"}
      </a>
      <TopBar
        view={route.view}
        title={useTitle(route)}
        onPalette={() => setOpen("palette")}
        onHelp={() => setOpen("help")}
        onThreads={() => setDrawer(!drawer)}
        onNew={newQuestion}
      />
      <div className="view" id="content" tabIndex={-1}>
        <Connection />
        <Boundary key={route.view}>
          <Suspense
            fallback={
              <main className="view-wait">
                <SkeletonRows rows={8} columns={4} />
              </main>
            }
          >
            <CurrentView route={route} drawer={drawer} />
          </Suspense>
        </Boundary>
      </div>
      <Dock view={route.view} />
      {open === "palette" && <Palette commands={commands} onAsk={askAnew} onClose={() => setOpen(null)} />}
      {open === "help" && <Help onClose={() => setOpen(null)} />}
      <DropZone />
      <Toasts />
      <LiveRegion />
    </>
  );
}

/** The title at the top of a phone: that of the thread, or the name of the view. */
function useTitle({ view, parts }: Route): string {
  const thread = view === "ask" ? parts[0] : undefined;
  const summary = useFetched<ThreadSummary>(thread ? path`/threads/${thread}` : null).data;
  if (view === "ask") return summary?.title ?? "New question";
  return VIEW_NAMES.find(([name]) => name === view)?.[1] ?? (view === "settings" ? "Settings" : "Answerable");
}

function CurrentView({ route, drawer }: { route: Route; drawer: boolean }) {
  const [first = null, second = null, third = null] = route.parts;
  switch (route.view) {
    case "ask":
      return <AskView thread={first} drawer={drawer} />;
    case "sources":
      return <SourcesView source={first} table={second} part={third} />;
    case "graphs":
      return <GraphsView name={first} run={second} />;
    case "runs":
      return <RunsView run={first} other={second} />;
    case "evals":
      return <EvalsView suite={first} caseId={second} />;
    case "settings":
      return <SettingsView page={first} />;
    case "shared":
      return <SharedView token={first ?? ""} />;
    case "nowhere":
      return <Nowhere />;
  }
}

function Nowhere() {
  return (
    <main className="cen">
      <h2>There is nothing at this address</h2>
      <p className="mid">The link may have been cut or mistyped.</p>
      <Link className="btn small" href="/ask">
        Ask a question
      </Link>
    </main>
  );
}

function newQuestion(): void {
  startOver();
  navigate("/ask");
}

function askAnew(question: string): void {
  newQuestion();
  void ask(DRAFT, { message: question }, (thread) => navigate(address("ask", thread)));
}

/** The pages about people, for who may open them. */
function peopleCommands(actions: string[] | undefined): Command[] {
  if (!actions) return [];
  const pages = [["requests", "Requests for access"]];
  if (actions.includes("administer"))
    pages.push(
      ["users", "Users"],
      ["groups", "Groups and roles"],
      ["access", "Access rules"],
      ["explain", "Who sees what"],
    );
  return pages.map(([page = "", label = ""]) => ({
    id: page,
    group: "Go to",
    label,
    run: () => navigate(address("settings", page)),
  }));
}

function useCommands(onHelp: () => void): Command[] {
  const actions = useFetched<IdentityState>("/identity").data?.profile?.actions;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `onHelp` only sets a state, so the first one stays valid.
  return useMemo(
    () => [
      ...VIEW_NAMES.map(
        ([view, label]): Command => ({
          id: `go-${view}`,
          group: "Go to",
          label,
          keys: ["G", label[0] ?? ""],
          run: () => navigate(address(view)),
        }),
      ),
      { id: "settings", group: "Go to", label: "Settings", run: () => navigate("/settings") },
      { id: "models", group: "Go to", label: "Models and budgets", run: () => navigate("/settings/models") },
      ...peopleCommands(actions),
      { id: "add", group: "Commands", label: "Add a source", run: () => navigate("/sources/+") },
      { id: "theme", group: "Commands", label: "Switch between light and dark", run: switchTheme },
      { id: "help", group: "Commands", label: "Keyboard help", keys: ["?"], run: onHelp },
      { id: "palette", group: "Commands", label: "Search or run a command", keys: [COMMAND_KEY, "K"], run: () => {} },
    ],
    [actions],
  );
}
