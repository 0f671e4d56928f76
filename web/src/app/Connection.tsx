import { WifiOff } from "lucide-react";
import { useEffect, useState } from "react";
import { reach, tryNow } from "../api/reach";
import { useStore } from "../shared/store";

/** Shown while the server cannot be reached. The page stays readable, and continues when the server is back. */
export function Connection() {
  const now = useStore(reach);
  return now.state === "lost" ? <Lost until={now.until} /> : null;
}

function Lost({ until }: { until: number }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((until - now) / 1_000));
  return (
    <div className="ban" role="alert">
      <WifiOff className="i" aria-hidden />
      <span className="grow">
        <b>No connection to the server.</b>{" "}
        <span aria-hidden>{seconds ? `Trying again in ${seconds} s.` : "Trying again."}</span>
      </span>
      <button type="button" className="btn small" onClick={tryNow}>
        Try now
      </button>
    </div>
  );
}
