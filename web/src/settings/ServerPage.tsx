import type { About, DoctorReport, RetentionReport } from "../api/types";
import { readable } from "../run/stepNames";
import { Asked } from "../shared/Asked";
import { Status } from "../shared/Status";
import { Subject } from "../shared/Subject";
import { WideTable } from "../shared/WideTable";
import { Page } from "./Page";
import { retentionFacts } from "./retention";

export function ServerPage() {
  return (
    <Page title="Server" note="Set when it is started; docs/settings.md explains each setting">
      <Subject title="Sandboxes" about="Where generated code runs.">
        <Asked address="/doctor">{(doctor: DoctorReport) => <Sandboxes doctor={doctor} />}</Asked>
      </Subject>
      <Subject title="Retention" about="What is kept, and how much space it takes.">
        <Asked address="/retention">{(report: RetentionReport) => <Facts facts={retentionFacts(report)} />}</Asked>
      </Subject>
      <Subject title="About">
        <Asked address="/about">{(about: About) => <AboutList about={about} />}</Asked>
      </Subject>
    </Page>
  );
}

function Sandboxes({ doctor }: { doctor: DoctorReport }) {
  return (
    <div className="box">
      <p className="box-line">
        <Status state={doctor.ready ? "ok" : "warn"}>
          {doctor.ready ? "Programs run isolated on this machine" : "No isolating sandbox is ready on this machine"}
        </Status>
      </p>
      <WideTable label="Sandboxes">
        <table className="data">
          <thead>
            <tr>
              <th>Sandbox</th>
              <th>State</th>
              <th>Detail</th>
            </tr>
          </thead>
          <tbody>
            {doctor.sandboxes.map((sandbox) => (
              <tr key={sandbox.backend}>
                <td>
                  {sandbox.backend}
                  {sandbox.default && <span className="dim"> default</span>}
                </td>
                <td>
                  <Status state={sandbox.available ? "ok" : "idle"}>
                    {sandbox.available ? "Ready" : "Not available"}
                  </Status>
                </td>
                <td className="wrap-cell mid">
                  <WithCode text={sandbox.available ? sandbox.detail : (sandbox.remedy ?? sandbox.detail)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </WideTable>
    </div>
  );
}

/** Renders the parts of a text between backticks as code. */
function WithCode({ text }: { text: string }) {
  return text.split("`").map((part, i) =>
    i % 2 ? (
      <code key={i} className="mono">
        {part}
      </code>
    ) : (
      part
    ),
  );
}

function Facts({ facts }: { facts: readonly (readonly [string, React.ReactNode])[] }) {
  return (
    <dl className="kv box facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="num">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function AboutList({ about }: { about: About }) {
  const facts = Object.entries(about).map(([name, value]) => [readable(name), String(value)] as const);
  const routes = (
    <a className="link" href="/docs">
      Every route
    </a>
  );
  return <Facts facts={[...facts, ["HTTP", routes]]} />;
}
