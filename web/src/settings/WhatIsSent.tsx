import { api } from "../api/client";
import type { ModelsOverview } from "../api/types";
import { Status } from "../shared/Status";
import { Subject } from "../shared/Subject";
import { pressed } from "./changeModels";

/** What a model gets to see. The one choice in it is its last line. */
export function WhatIsSent({ models }: { models: ModelsOverview }) {
  const shared = models.share_rows;
  return (
    <Subject
      title={models.configured ? "What is sent" : "What would be sent"}
      about="To a model and to nobody else, only while a question is answered. Of each call the model, tokens, cost and time are recorded, not what was said."
    >
      <div className="box">
        <table className="data sent">
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col">Sent</th>
            </tr>
          </thead>
          <tbody>
            <Line part="The question and the thread it belongs to" />
            <Line
              part="Names, types and counts of what the question touches"
              more=", as far as the asking person may see it"
            />
            <Line
              part="Values and sample records of the data"
              sent={shared ? "Yes" : "No"}
              more={shared ? (models.share_personal ? "" : ", without personal data") : ", turned off below"}
            />
            <Line part="Passwords, keys, other threads, telemetry" sent="Never" />
          </tbody>
        </table>
        <div className="toggle">
          <p id="share-rows">
            Share values and sample records
            <small>Better with codes and spellings. Off: names, types and counts only.</small>
          </p>
          <button
            type="button"
            className="switch"
            role="switch"
            aria-checked={shared}
            aria-labelledby="share-rows"
            onClick={() => void pressed(api.put("/models/sharing", { rows: !shared }))}
          />
        </div>
      </div>
    </Subject>
  );
}

function Line({ part, sent = "Yes", more = "" }: { part: string; sent?: "Yes" | "No" | "Never"; more?: string }) {
  return (
    <tr>
      <td>{part}</td>
      <td>
        <Status state={sent === "Yes" ? "ok" : "skipped"}>{sent}</Status>
        {more}
      </td>
    </tr>
  );
}
