import type { UsageReport } from "../api/types";
import { Asked } from "../shared/Asked";
import { money, plural } from "../shared/format";
import { Subject } from "../shared/Subject";
import { Page } from "./Page";
import { UsageChart } from "./UsageChart";

export function UsePage() {
  return (
    <Page title="Use" note="Of the last 30 days, in UTC">
      <Subject title="Runs" about="Every question that was asked, and every graph that ran.">
        <Asked address="/usage?days=30">{(usage: UsageReport) => <Use usage={usage} />}</Asked>
      </Subject>
    </Page>
  );
}

function Use({ usage }: { usage: UsageReport }) {
  const total = usage.days.reduce(
    (sum, day) => ({ runs: sum.runs + day.runs, tokens: sum.tokens + day.tokens, cost: sum.cost + day.cost_usd }),
    { runs: 0, tokens: 0, cost: 0 },
  );
  return (
    <div className="box use">
      <p className="mid num">
        {plural(total.runs, "run")}, {plural(total.tokens, "token")}, {money(total.cost)} in{" "}
        {plural(usage.days.length, "day")}
      </p>
      <UsageChart days={usage.days} />
    </div>
  );
}
