import {
  ChartColumn,
  CircleDollarSign,
  Eye,
  Hand,
  KeyRound,
  Lock,
  type LucideIcon,
  Server,
  User,
  UsersRound,
} from "lucide-react";
import { useEffect } from "react";
import { Explain } from "../access/Explain";
import { Groups } from "../access/Groups";
import { Requests } from "../access/Requests";
import { Rules } from "../access/Rules";
import { Users } from "../access/Users";
import { closeDoor } from "../api/door";
import type { IdentityState, Profile, RequestList } from "../api/types";
import { Account } from "../identity/Account";
import { useFetched } from "../shared/fetched";
import { Link } from "../shared/Link";
import { address } from "../shared/router";
import { ModelsPage } from "./ModelsPage";
import { Page } from "./Page";
import { ServerPage } from "./ServerPage";
import { UsePage } from "./UsePage";
import "./settings.css";
import "../access/access.css";

interface Entry {
  name: string;
  label: string;
  icon: LucideIcon;
  /** Whether it is about people: shown only where people sign in, to everybody or to who may administer. */
  people?: "everybody" | "administrators";
  view: (profile: Profile | null) => React.ReactNode;
}

const PAGES: Entry[] = [
  { name: "models", label: "Models", icon: ChartColumn, view: () => <ModelsPage /> },
  { name: "use", label: "Use", icon: CircleDollarSign, view: () => <UsePage /> },
  { name: "server", label: "Server", icon: Server, view: () => <ServerPage /> },
  { name: "users", label: "Users", icon: User, people: "administrators", view: () => <Users /> },
  { name: "groups", label: "Groups and roles", icon: UsersRound, people: "administrators", view: () => <Groups /> },
  { name: "access", label: "Access rules", icon: Lock, people: "administrators", view: () => <Rules /> },
  { name: "explain", label: "Who sees what", icon: Eye, people: "administrators", view: () => <Explain /> },
  {
    name: "requests",
    label: "Requests",
    icon: Hand,
    people: "everybody",
    view: (profile) => profile && <Requests me={profile.user} decides={administers(profile)} />,
  },
  { name: "account", label: "Keys and sessions", icon: KeyRound, people: "everybody", view: () => <Account /> },
];

export default function SettingsView({ page }: { page: string | null }) {
  const identity = useFetched<IdentityState>("/identity").data;
  const signedIn = identity?.profile;
  useEffect(() => {
    if (identity?.enabled && !identity.profile) closeDoor();
  }, [identity]);
  const asked = useFetched<RequestList>(signedIn ? "/access/requests" : null).data?.requests ?? [];
  const waiting = asked.filter(({ state }) => state === "open").length;
  const shown = PAGES.filter(
    ({ people }) => !people || (signedIn && (people === "everybody" || administers(signedIn))),
  );
  const current = shown.find(({ name }) => name === page) ?? shown[0]!;
  const missing = page !== null && identity !== null && !shown.some(({ name }) => name === page);
  const view = current.view(signedIn ?? null);
  return (
    <main className={`settings ${page ? "one" : ""}`}>
      <aside className="pane side" aria-label="Settings">
        <div className="head">
          <h2>Settings</h2>
        </div>
        <nav className="setnav" aria-label="Settings">
          <Links pages={shown.filter(({ people }) => !people)} current={missing ? null : current} />
          {signedIn && <h2 className="label">People</h2>}
          <Links pages={shown.filter(({ people }) => people)} current={missing ? null : current} waiting={waiting} />
        </nav>
      </aside>
      <div className="pane" key={current.name}>
        {missing && <NotHere page={page} signedIn={Boolean(signedIn)} />}
        {!missing && (current.people ? <Page title={current.label}>{view}</Page> : view)}
      </div>
    </main>
  );
}

function administers(profile: Profile): boolean {
  return profile.actions.includes("administer");
}

/** Instead of a page that does not exist, or not for this person. */
function NotHere({ page, signedIn }: { page: string; signedIn: boolean }) {
  const known = PAGES.find(({ name }) => name === page);
  const [title, why] = !known
    ? [`There is no page called ${page} in the settings`, "The link may have been cut."]
    : signedIn
      ? [`${known.label} is for administrators`, "Ask whoever runs the server for the action `administer`."]
      : [`${known.label}: nobody signs in here`, "Once people sign in to this server, this page shows them."];
  return (
    <div className="cen">
      <p className="h">{title}</p>
      <p className="mid">{why}</p>
      <Link className="btn small" href="/settings">
        All settings
      </Link>
    </div>
  );
}

function Links({ pages, current, waiting = 0 }: { pages: Entry[]; current: Entry | null; waiting?: number }) {
  return pages.map(({ name, label, icon: Icon }) => (
    <Link key={name} href={address("settings", name)} aria-current={name === current?.name ? "page" : undefined}>
      <Icon className="i" aria-hidden />
      {label}
      {name === "requests" && waiting > 0 && <span className="n waiting">{waiting} wait</span>}
    </Link>
  ));
}
