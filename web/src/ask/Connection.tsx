import { WifiOff } from "lucide-react";
import { useEffect, useState } from "react";
import { tryNow } from "../api/stream";
import type { Turn } from "./conversations";

/** Told while the server cannot be heard: the page stays readable, the run goes on. */
export function Connection({ turns }: { turns: Turn[] }) {
  const lost = turns.map((turn) => turn.connection).find((connection) => connection.state === "lost");
  const until = lost?.state === "lost" ? lost.until : null;
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (until === null) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [until]);
  if (until === null) return null;
  return (
    <div className="ban" role="alert">
      <WifiOff className="i" aria-hidden />
      <span className="grow">
        <b>No connection to the server.</b> Trying again in {Math.max(0, Math.ceil((until - now) / 1_000))} s. The run goes on.
      </span>
      <button type="button" className="btn small" onClick={() => tryNow.dispatchEvent(new Event("now"))}>
        Try now
      </button>
    </div>
  );
}
