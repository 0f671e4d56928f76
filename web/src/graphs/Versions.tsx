import { path } from "../api/client";
import type { GraphVersions } from "../api/types";
import { useFetched } from "../shared/fetched";
import { moment } from "../shared/format";

interface Props {
  name: string;
  compared: number | null;
  onCompare: (version: number | null) => void;
}

/** Who saved which version. A press compares one with the version that counts. */
export function Versions({ name, compared, onCompare }: Props) {
  const { data } = useFetched<GraphVersions>(path`/graphs/${name}/versions`);
  if (!data) return null;
  return (
    <section className="gversions" aria-label={`Versions of ${name}`}>
      <h2 className="label">Versions of {name}</h2>
      <ol>
        {data.versions.map(({ version, at, note, user }, i) => (
          <li key={version}>
            <button
              type="button"
              aria-pressed={compared === version}
              disabled={i === 0}
              title={i === 0 ? "The version that counts" : `Compare with v${data.versions[0]?.version}`}
              onClick={() => onCompare(compared === version ? null : version)}
            >
              <b>v{version}</b> {i === 0 ? "counts now" : ""}
              <small>
                {moment(at)}, {note || user}
              </small>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
