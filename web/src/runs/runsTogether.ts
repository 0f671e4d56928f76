interface Dated {
  run_id: string;
  created_at: string;
}

/** Each run once, newest first. If a run is in both lists, the first list wins. */
export function runsTogether<R extends Dated>(newest: R[], older: R[]): R[] {
  if (!older.length) return newest;
  const known = new Set(newest.map((run) => run.run_id));
  const all = [...newest, ...older.filter((run) => !known.has(run.run_id))];
  return all.sort((a, b) => b.created_at.localeCompare(a.created_at) || b.run_id.localeCompare(a.run_id));
}
