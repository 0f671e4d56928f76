import type { RequestView, RulesState, UserView } from "../api/types";
import { moment } from "../shared/format";
import type { State } from "../shared/Status";

type Rule = RulesState["rules"][number];

/** For whom a rule holds. */
export function whoOf({ roles, users }: Pick<Rule, "roles" | "users">): string {
  if (roles.includes("everyone")) return "Everyone";
  return [...roles.map((role) => `role ${role}`), ...users].join(", ") || "Nobody";
}

export function userState(user: Pick<UserView, "disabled" | "can_sign_in" | "origin">): [State, string] {
  if (user.disabled) return ["refused", "Kept out"];
  if (user.origin === "service") return ["ok", "A program, by key"];
  return user.can_sign_in ? ["ok", "Signs in"] : ["idle", "No password yet"];
}

/** Icon and words for where a request stands. A role that has run out is not called approved any more. */
export function requestState(request: RequestView, now = Date.now()): [State, string] {
  if (request.state === "open") return ["waiting", "Waits"];
  if (request.state === "denied") return ["refused", `Denied by ${request.decided_by}`];
  if (request.expires_at && Date.parse(request.expires_at) <= now) return ["idle", `${request.role} has run out`];
  const until = request.expires_at ? ` until ${moment(request.expires_at)}` : "";
  return ["ok", `${request.role}${until}, by ${request.decided_by}`];
}

export function invitationLink(origin: string, token: string): string {
  return `${origin}/#invitation=${encodeURIComponent(token)}`;
}
