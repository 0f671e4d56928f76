import { ArrowDown, ArrowUp, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, Problem } from "../api/client";
import type { ModelCheck, ModelName, ModelsOverview } from "../api/types";
import { refresh } from "../shared/fetched";
import { clock } from "../shared/format";
import { Status } from "../shared/Status";
import { Subject } from "../shared/Subject";
import { toast } from "../shared/toasts";
import { arrange, changed, moved, type Order, orderOf, placeOf, pressed } from "./changeModels";
import { checkResult } from "./modelCheck";

const ROLES: Record<string, [string, string]> = {
  reasoning: ["To plan and to judge", "The first one is asked. The next takes over when it fails."],
  coding: ["To write queries and programs", "The first one is asked. The next takes over when it fails."],
};

interface Props {
  models: ModelsOverview;
  fixed: boolean;
  form: ReactNode;
}

/** The models in the order in which they are asked: one list, or one for each kind of work where they differ. */
export function ModelList({ models, fixed, form }: Props) {
  const order = orderOf(models);
  const same = order.reasoning.join("\n") === order.coding.join("\n");
  const lists = same ? models.roles.slice(0, 1) : models.roles;
  return lists.map(({ role, models: listed }, place) => {
    const [title, about] = same
      ? [
          "In this order",
          "The first one is asked. The next takes over when it fails. Without any, the reader answers alone.",
        ]
      : ROLES[role]!;
    const put = (names: string[]): Order => (same ? { reasoning: names, coding: names } : { ...order, [role]: names });
    const names = listed.map(({ name }) => name);
    return (
      <Subject key={role} title={title} about={about}>
        <div className="box">
          <ol className="models">
            {listed.map((model, number) => (
              <ModelRow
                key={model.name}
                model={model}
                number={number + 1}
                last={number + 1 === listed.length}
                fixed={fixed}
                onMove={(by) => void pressed(arrange(put(moved(names, model.name, by))))}
                onRemove={() => void remove(model, put(names.filter((name) => name !== model.name)), order)}
              />
            ))}
          </ol>
          {place === lists.length - 1 && form}
        </div>
      </Subject>
    );
  });
}

async function remove(model: ModelName, order: Order, before: Order): Promise<void> {
  if (!(await pressed(arrange(order)))) return;
  const kept = order.reasoning.includes(model.name) || order.coding.includes(model.name);
  toast(`${model.model} is removed${kept || model.key !== "settings" ? "" : ", its key too"}`, {
    action: { label: "Undo", run: () => void pressed(arrange(before)) },
  });
}

interface RowProps {
  model: ModelName;
  number: number;
  last: boolean;
  fixed: boolean;
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
}

function ModelRow({ model, number, last, fixed, onMove, onRemove }: RowProps) {
  const [testing, setTesting] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [keying, setKeying] = useState(false);
  const test = async () => {
    setTesting(true);
    setProblem(null);
    try {
      await api.post<ModelCheck>("/models/check", { name: model.name });
      refresh("/models");
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    }
    setTesting(false);
  };
  const byKey = (event: React.KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (fixed || !event.altKey || !by) return;
    event.preventDefault();
    onMove(by as -1 | 1);
  };
  return (
    <li onKeyDown={byKey}>
      <span className="ord num">{number}</span>
      <div className="nm">
        <b>{model.model}</b> <span className="mono">{model.provider}</span>
        <small>{placeOf(model)}</small>
      </div>
      <div className="row">
        {!fixed && model.key === "settings" && (
          <button type="button" className="btn ghost small" onClick={() => setKeying(!keying)}>
            Replace key
          </button>
        )}
        <button type="button" className="btn small" disabled={testing} onClick={() => void test()}>
          Test
        </button>
        {!fixed && (
          <>
            <IconButton label={`Move ${model.model} up`} hint="Alt ↑" off={number === 1} onPress={() => onMove(-1)}>
              <ArrowUp className="i i-s" aria-hidden />
            </IconButton>
            <IconButton label={`Move ${model.model} down`} hint="Alt ↓" off={last} onPress={() => onMove(1)}>
              <ArrowDown className="i i-s" aria-hidden />
            </IconButton>
            <IconButton label={`Remove ${model.model}`} hint="with undo" onPress={onRemove}>
              <Trash2 className="i i-s" aria-hidden />
            </IconButton>
          </>
        )}
      </div>
      {keying && <KeyForm model={model} onDone={() => setKeying(false)} />}
      <div className="res" role="status">
        {testing ? (
          <Status state="running">Testing …</Status>
        ) : problem ? (
          <Wrong word="Not tested" text={[problem.message, problem.hint]} />
        ) : (
          model.last_check && <Outcome check={model.last_check.result} at={model.last_check.at} />
        )}
      </div>
    </li>
  );
}

interface IconProps {
  label: string;
  hint: string;
  off?: boolean;
  onPress: () => void;
  children: ReactNode;
}

function IconButton({ label, hint, off = false, onPress, children }: IconProps) {
  return (
    <button
      type="button"
      className="btn ghost icon small"
      aria-label={label}
      title={`${label}  ${hint}`}
      disabled={off}
      onClick={onPress}
    >
      {children}
    </button>
  );
}

function KeyForm({ model, onDone }: { model: ModelName; onDone: () => void }) {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const save = async (event: React.FormEvent) => {
    event.preventDefault();
    const wrong = await changed(api.put("/models/key", { name: model.name, key }));
    setProblem(wrong);
    if (!wrong) onDone();
  };
  return (
    <form className="keyform" onSubmit={(event) => void save(event)}>
      <input
        className="input"
        type="password"
        autoComplete="off"
        aria-label={`New key of ${model.provider}`}
        placeholder={`New key of ${model.provider}`}
        autoFocus
        value={key}
        onChange={(event) => setKey(event.target.value)}
      />
      <button type="submit" className="btn" disabled={!key}>
        Save key
      </button>
      <button type="button" className="btn ghost" onClick={onDone}>
        Cancel
      </button>
      {problem && <Wrong word="Not saved" text={[problem.message, problem.hint]} />}
    </form>
  );
}

function Wrong({ word, text }: { word: string; text: (string | null)[] }) {
  return (
    <>
      <Status state="error">{word}</Status>
      <span>{text.filter(Boolean).join(" ")}</span>
    </>
  );
}

export function Outcome({ check, at }: { check: ModelCheck; at?: string }) {
  const { state, word, cost, reasons } = checkResult(check);
  return (
    <>
      <Status state={state}>{word}</Status>
      <span>
        {at && `${clock(at)}. `}
        {reasons.length ? reasons.join(" ") : cost}
      </span>
    </>
  );
}
