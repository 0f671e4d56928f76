import { useState } from "react";
import { api, Problem } from "../api/client";
import type { About, DoctorReport, ModelCheck, ModelsOverview, RetentionReport, UsageReport } from "../api/types";
import { Bar } from "../ask/StepList";
import { readable } from "../ask/stepNames";
import { Account } from "../identity/Account";
import { type Fetched, useFetched } from "../shared/fetched";
import { count, money, plural } from "../shared/format";
import { ProblemNotice } from "../shared/Notice";
import { SkeletonRows } from "../shared/Skeleton";
import { Status } from "../shared/Status";
import { checkResult } from "./modelCheck";
import { retentionFacts } from "./retention";
import { UsageChart } from "./UsageChart";

export default function SettingsView() {
  return (
    <main className="settings scroll" tabIndex={0}>
      <h1>Settings</h1>
      <p className="mid">
        The settings of this server. They are set when it is started; docs/settings.md explains each.
      </p>
      <Account />
      <Part title="Models" address="/models">
        {(models: ModelsOverview) => <Models models={models} />}
      </Part>
      <Part title="Usage and budgets" address="/usage?days=30">
        {(usage: UsageReport) => <Use usage={usage} />}
      </Part>
      <Part title="Sandboxes" address="/doctor">
        {(doctor: DoctorReport) => <Sandboxes doctor={doctor} />}
      </Part>
      <Part title="Retention" address="/retention">
        {(report: RetentionReport) => <Retention report={report} />}
      </Part>
      <Part title="About" address="/about">
        {(about: About) => <AboutList about={about} />}
      </Part>
    </main>
  );
}

function Part<T>({
  title,
  address,
  children,
}: {
  title: string;
  address: string;
  children: (data: T) => React.ReactNode;
}) {
  const found: Fetched<T> = useFetched<T>(address);
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {found.problem && !found.data && <ProblemNotice problem={found.problem} onRetry={found.reload} />}
      {!found.data && !found.problem && <SkeletonRows rows={3} columns={3} />}
      {found.data && children(found.data)}
    </section>
  );
}

function Models({ models }: { models: ModelsOverview }) {
  const rows = models.roles.flatMap((role) => role.models.map((model) => ({ role: role.role, ...model })));
  if (!models.configured)
    return <p className="mid">No language model is set. The reader answers by itself, with no key and no network.</p>;
  return (
    <table className="data">
      <thead>
        <tr>
          <th>Used for</th>
          <th>Model</th>
          <th>Test</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.role} ${row.name}`}>
            <td>{row.role}</td>
            <td className="wrap-cell">
              <span className="mono">{row.model}</span>
              <span className="m">{row.base_url ?? row.provider}</span>
            </td>
            <td className="wrap-cell">
              <ModelTest name={row.name} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ModelTest({ name }: { name: string }) {
  const [check, setCheck] = useState<ModelCheck | Problem | "running" | null>(null);
  const test = async () => {
    setCheck("running");
    try {
      setCheck(await api.post<ModelCheck>("/models/check", { name }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setCheck(error);
    }
  };
  return (
    <span className="row model-test">
      <button type="button" className="btn small" disabled={check === "running"} onClick={() => void test()}>
        Test
      </button>
      {check === "running" && <Status state="running">Testing …</Status>}
      {check instanceof Problem && (
        <span className="checked">
          <Status state="error">Not tested</Status>
          <span className="mid">
            {check.message} {check.hint}
          </span>
        </span>
      )}
      {check && check !== "running" && !(check instanceof Problem) && <Outcome check={check} />}
    </span>
  );
}

function Outcome({ check }: { check: ModelCheck }) {
  const { state, word, cost, reasons } = checkResult(check);
  return (
    <span className="checked">
      <Status state={state}>{word}</Status>
      <span className="dim num">{cost}</span>
      {reasons.map((reason) => (
        <span key={reason} className="mid">
          {reason}
        </span>
      ))}
    </span>
  );
}

function Use({ usage }: { usage: UsageReport }) {
  const total = usage.days.reduce(
    (sum, day) => ({ runs: sum.runs + day.runs, tokens: sum.tokens + day.tokens, cost: sum.cost + day.cost_usd }),
    { runs: 0, tokens: 0, cost: 0 },
  );
  return (
    <>
      <p className="mid num">
        {plural(total.runs, "run")}, {plural(total.tokens, "token")}, {money(total.cost)} in{" "}
        {plural(usage.days.length, "day")}
      </p>
      <UsageChart days={usage.days} />
      {usage.budgets.map((budget) => (
        <div key={`${budget.name} ${budget.period}`} className="budget">
          <div className="row">
            <span className="grow">
              {budget.name}, {budget.period}
            </span>
            <span className="num mid">
              {budget.cost_limit_usd === null
                ? `${count(budget.tokens_spent)} of ${budget.tokens_limit === null ? "any number of" : count(budget.tokens_limit)} tokens`
                : `${money(budget.cost_spent_usd)} of ${money(budget.cost_limit_usd)}`}
            </span>
          </div>
          {budget.cost_limit_usd !== null && <Bar done={budget.cost_spent_usd} total={budget.cost_limit_usd} />}
          {budget.cost_limit_usd === null && budget.tokens_limit !== null && (
            <Bar done={budget.tokens_spent} total={budget.tokens_limit} />
          )}
        </div>
      ))}
      {!usage.budgets.length && <p className="dim">No budget is set.</p>}
    </>
  );
}

function Sandboxes({ doctor }: { doctor: DoctorReport }) {
  return (
    <>
      <Status state={doctor.ready ? "ok" : "warn"}>
        {doctor.ready ? "Programs run isolated on this machine" : "No isolating sandbox is ready on this machine"}
      </Status>
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
    </>
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

function Retention({ report }: { report: RetentionReport }) {
  return (
    <dl className="kv">
      {retentionFacts(report).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="num">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function AboutList({ about }: { about: About }) {
  return (
    <dl className="kv">
      {Object.entries(about).map(([name, value]) => (
        <div key={name}>
          <dt>{readable(name)}</dt>
          <dd className="mono">{String(value)}</dd>
        </div>
      ))}
      <div>
        <dt>HTTP</dt>
        <dd>
          <a className="link" href="/docs">
            Every route
          </a>
        </dd>
      </div>
    </dl>
  );
}
