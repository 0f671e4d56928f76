import type { ReactNode } from "react";
import { useStore } from "../shared/store";
import { door } from "./door";
import { SignIn } from "./SignIn";

/** Shows the page to whoever may use it, and else a form to sign in. */
export function Doorway({ children }: { children: ReactNode }) {
  const now = useStore(door);
  return now.state === "open" ? children : <SignIn door={now} />;
}
