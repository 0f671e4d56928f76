import type { ReactNode } from "react";
import { door } from "../api/door";
import { useStore } from "../shared/store";
import { SignIn } from "./SignIn";

/** Shows the page to whoever may use it, and else a form to sign in. */
export function Doorway({ children }: { children: ReactNode }) {
  const now = useStore(door);
  return now.state === "open" ? children : <SignIn door={now} />;
}
