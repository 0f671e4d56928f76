import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { ModelsOverview, UsageReport } from "../api/types";
import { useFetched } from "../shared/fetched";
import { money } from "../shared/format";
import { Subject } from "../shared/Subject";
import { pressed } from "./changeModels";

type Account = keyof ModelsOverview["budget"];
const ACCOUNTS: [Account, string, string, number][] = [
  ["run", "A run", "run", 0],
  ["user_day", "A person, a day", "user", 10],
  ["user_month", "A person, a month", "user", 7],
  ["tenant_month", "Everybody, a month", "tenant", 7],
];
const NEAR = 0.8;

/** What models may cost, each limit a line with a field and what was used of it. */
export function Budgets({ models }: { models: ModelsOverview }) {
  const used = useFetched<UsageReport>("/usage?days=30").data?.budgets ?? [];
  return (
    <Subject
      title="Budgets"
      about="A call is made only if every budget can pay for the most it may use. Days and months are UTC. An empty field: no limit."
    >
      <div className="box">
        {ACCOUNTS.map(([account, label, name, period]) => {
          const spent = used.find((each) => each.name === name && each.period.length === period);
          return (
            <BudgetLine
              key={account}
              label={label}
              limit={models.budget[account].cost}
              spent={name === "run" ? null : (spent?.cost_spent_usd ?? null)}
              whose={name === "user" ? "you used" : "used"}
              onChange={(cost) => {
                const limit = { ...models.budget[account], cost };
                void pressed(api.put("/models/budget", { ...models.budget, [account]: limit }));
              }}
            />
          );
        })}
      </div>
    </Subject>
  );
}

interface LineProps {
  label: string;
  limit: number | null;
  spent: number | null;
  whose: string;
  onChange: (limit: number | null) => void;
}

function BudgetLine({ label, limit, spent, whose, onChange }: LineProps) {
  const stored = limit === null ? "" : String(limit);
  const [text, setText] = useState(stored);
  useEffect(() => setText(stored), [stored]);
  const number = Number(text.replace(",", "."));
  const wrong = text.trim() !== "" && !(number >= 0);
  const save = () => {
    if (!wrong && text.trim() !== stored) onChange(text.trim() === "" ? null : number);
  };
  const share = limit && spent !== null ? Math.min(1, spent / limit) : 0;
  return (
    <div className="bud">
      <span>{label}</span>
      <label className={`field ${wrong ? "bad" : ""}`}>
        <input
          aria-label={`Budget: ${label}, in USD`}
          aria-invalid={wrong}
          inputMode="decimal"
          placeholder="no limit"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onBlur={save}
          onKeyDown={(event) => event.key === "Enter" && save()}
        />
        <span>USD</span>
      </label>
      {limit === null ? (
        <span />
      ) : (
        <svg
          className={`usebar ${share >= NEAR ? "near" : ""}`}
          viewBox="0 0 100 4"
          preserveAspectRatio="none"
          aria-hidden
        >
          <rect className="bg" width="100" height="4" />
          <rect className="fg" width={100 * share} height="4" />
        </svg>
      )}
      <span className={`r num ${share >= NEAR ? "warn" : ""}`}>
        {wrong ? "A number of dollars, or nothing" : limit !== null && spent !== null ? `${whose} ${money(spent)}` : ""}
      </span>
    </div>
  );
}
