import type { ReactNode } from "react";
import { type Fetched, useFetched } from "./fetched";
import { ProblemNotice } from "./Notice";
import { SkeletonRows } from "./Skeleton";

/** What an address of the server gives; until then a skeleton, and a notice where it gives nothing. */
export function Asked<T>({ address, children }: { address: string; children: (data: T) => ReactNode }) {
  const found: Fetched<T> = useFetched<T>(address);
  if (found.data) return children(found.data);
  if (found.problem) return <ProblemNotice problem={found.problem} onRetry={found.reload} />;
  return <SkeletonRows rows={3} columns={3} />;
}
