import { Plus } from "lucide-react";
import { useState } from "react";
import type { ModelsOverview } from "../api/types";
import { useFetched } from "../shared/fetched";
import { ProblemNotice } from "../shared/Notice";
import { SkeletonRows } from "../shared/Skeleton";
import { Subject } from "../shared/Subject";
import { AddModel } from "./AddModel";
import { Budgets } from "./Budgets";
import { ModelList } from "./ModelList";
import { NoModel } from "./NoModel";
import { Page } from "./Page";
import { WhatIsSent } from "./WhatIsSent";

export function ModelsPage() {
  const found = useFetched<ModelsOverview>("/models");
  const [adding, setAdding] = useState(false);
  const models = found.data;
  const fixed = models?.fixed_by[0];
  const mayAdd = models && !fixed;
  const addButton = (
    <button type="button" className="btn small" disabled={adding} onClick={() => setAdding(true)}>
      <Plus className="i i-s" aria-hidden />
      Add a model
    </button>
  );
  const form = adding && models && <AddModel models={models} onDone={() => setAdding(false)} />;
  return (
    <Page
      title="Models"
      note={
        fixed
          ? `Set by ${fixed} where the server was started; change them there`
          : "You may change them as administrator"
      }
      actions={mayAdd && models.configured && addButton}
    >
      {found.problem && !models && <ProblemNotice problem={found.problem} onRetry={found.reload} />}
      {!models && !found.problem && <SkeletonRows rows={6} columns={3} />}
      {models && !models.configured && !adding && <NoModel onAdd={() => setAdding(true)} />}
      {models && !models.configured && adding && (
        <Subject title="Add a model">
          <div className="box">{form}</div>
        </Subject>
      )}
      {models?.configured && <ModelList models={models} fixed={Boolean(fixed)} form={form} />}
      {models && <WhatIsSent models={models} />}
      {models && <Budgets models={models} />}
    </Page>
  );
}
