import type { ReadyGraph } from "../api/types";
import { Link } from "../shared/Link";
import { address } from "../shared/router";

/** The address of a ready-made graph in the editor, where it is stored once it is saved or run. */
function opened({ name }: ReadyGraph): string {
  return address("graphs", "+", name);
}

function needs({ needs_model }: ReadyGraph): string {
  return needs_model ? "needs a model" : "needs no model";
}

export function ReadyMadeList({ templates, current }: { templates: ReadyGraph[]; current: string | null }) {
  if (!templates.length) return null;
  return (
    <section className="gready" aria-labelledby="ready-made">
      <h3 className="caption dim" id="ready-made">
        Ready-made
      </h3>
      <ul className="srcs">
        {templates.map((each) => (
          <li key={each.name}>
            <Link
              className={`suite ${each.name === current ? "cur" : ""}`}
              href={opened(each)}
              aria-current={each.name === current ? "true" : undefined}
            >
              <b className="clip">{each.name}</b>
              <span className="m">{needs(each)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Shown before the first graph is stored: graphs to begin with. */
export function ReadyMade({ templates }: { templates: ReadyGraph[] }) {
  return (
    <section className="pane gbegin" aria-label="Graphs to begin with">
      <div className="scroll">
        <h2>Begin with a ready-made graph</h2>
        <p className="mid">Open one to see its steps and what it reads. It is stored once you save or run it.</p>
        <ul className="gcards">
          {templates.map((each) => (
            <li key={each.name}>
              <Link className="gcard" href={opened(each)}>
                <b>{each.name}</b>
                <span className="mid">{each.description}</span>
                <span className="caption dim">{needs(each)}</span>
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
