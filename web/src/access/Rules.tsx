import { useState } from "react";
import type { RulesState } from "../api/types";
import { Asked } from "../shared/Asked";
import { Notice } from "../shared/Notice";
import { Subject } from "../shared/Subject";
import { whoOf } from "./describe";
import { RulesText } from "./RulesText";
import { RulesVersions } from "./RulesVersions";

/** Who may see what: the rules of access.yaml, their text, and how they came to be. */
export function Rules() {
  return (
    <>
      <Asked address="/access/rules">{(state: RulesState) => <InForce state={state} />}</Asked>
      <RulesVersions />
    </>
  );
}

function InForce({ state }: { state: RulesState }) {
  // The text and its version as they were when editing began: a newer one must not replace what is being written.
  const [edited, setEdited] = useState<RulesState | null>(null);
  return (
    <Subject
      title="Rules"
      about="A denial wins over everything else. What no rule allows, nobody sees. Rules count as soon as they are saved."
    >
      {state.problem && (
        <Notice tone="error" title="The rules cannot be read, so they let nobody in">
          <p>{state.problem}</p>
        </Notice>
      )}
      {edited ? (
        <RulesText base={edited} onClose={() => setEdited(null)} />
      ) : (
        <div className="box">
          <p className="box-line row">
            <span className="mid grow">
              <span className="mono">access.yaml</span>, version {state.version}
            </span>
            <button type="button" className="btn primary" onClick={() => setEdited(state)}>
              Edit the rules
            </button>
          </p>
          <RuleTable rules={state.rules} />
        </div>
      )}
    </Subject>
  );
}

function RuleTable({ rules }: Pick<RulesState, "rules">) {
  return (
    <table className="data rulelist">
      <thead>
        <tr>
          <th>Rule</th>
          <th>Who</th>
          <th>What</th>
        </tr>
      </thead>
      <tbody>
        {rules.map((rule) => (
          <tr key={rule.name}>
            <td className="wrap-cell">{rule.name}</td>
            <td className="wrap-cell">{whoOf(rule)}</td>
            <td className="wrap-cell">
              {rule.says}
              {rule.reason && <small>{rule.reason}</small>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
