import { Dialog } from "../shared/Dialog";
import { COMMAND_KEY } from "../shared/keys";

type Keys = [meaning: string, keys: string[]];

const GROUPS: [string, Keys[]][] = [
  [
    "Everywhere",
    [
      ["Commands", [COMMAND_KEY, "K"]],
      ["Ask a question", ["/"]],
      ["New question", ["N"]],
      ["Go to Ask, Sources, Graphs, Runs, Evals", ["G", "A", "S", "G", "R", "E"]],
      ["This help", ["?"]],
      ["Close, go back", ["Esc"]],
    ],
  ],
  [
    "Question",
    [
      ["Send", ["Enter"]],
      ["New line", ["Shift", "Enter"]],
      ["Choose an option", ["1", "…", "9"]],
      ["Edit the last question", ["↑"]],
      ["Stop the run", [COMMAND_KEY, "."]],
    ],
  ],
  [
    "Answer",
    [
      ["Table, Chart, Check", ["T", "C", "V"]],
      ["Replay", ["R"]],
      ["Download", ["D"]],
      ["Next, previous answer", ["J", "K"]],
    ],
  ],
  [
    "Table",
    [
      ["Move between cells", ["←", "↑", "↓", "→"]],
      ["Sort by this column", ["S"]],
      ["Filter by this value", ["F"]],
      ["Whole value", ["Enter"]],
      ["Copy cell", [COMMAND_KEY, "C"]],
      ["First, last row", [COMMAND_KEY, "↑", "↓"]],
    ],
  ],
];

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Keyboard" className="keys" onClose={onClose}>
      <header>
        <h2 className="h grow">Keyboard</h2>
        <kbd>?</kbd>
      </header>
      <div className="kg">
        {GROUPS.map(([name, keys]) => (
          <section key={name}>
            <h3 className="label">{name}</h3>
            <dl>
              {keys.map(([meaning, pressed]) => (
                <div key={meaning}>
                  <dt>{meaning}</dt>
                  <dd>
                    {pressed.map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
