import { useState } from "react";
import { api, path } from "../api/client";
import type { RequestList, RequestView, RulesState } from "../api/types";
import { Asked } from "../shared/Asked";
import { problemOf } from "../shared/change";
import { useFetched } from "../shared/fetched";
import { moment } from "../shared/format";
import { Status } from "../shared/Status";
import { Subject } from "../shared/Subject";
import { tell, toast } from "../shared/toasts";
import { requestState } from "./describe";

/** Requests for more: one's own, and for who administers those of everybody. Nobody decides about their own. */
export function Requests({ me, decides }: { me: string; decides: boolean }) {
  return (
    <Subject
      title={decides ? "Requests" : "Your requests"}
      about={decides ? "Who asks for more gets a role, for some days." : "Whoever administers decides about them."}
    >
      {!decides && <AskForMore />}
      <Asked address="/access/requests">
        {({ requests }: RequestList) =>
          requests.length ? (
            <ul className="box requests">
              {requests.map((request) => (
                <Request key={request.request_id} request={request} decides={decides && request.user !== me} />
              ))}
            </ul>
          ) : (
            <p className="mid">{decides ? "Nobody has asked for more." : "You have not asked for more."}</p>
          )
        }
      </Asked>
    </Subject>
  );
}

function Request({ request, decides }: { request: RequestView; decides: boolean }) {
  const [state, word] = requestState(request);
  return (
    <li>
      <div className="grow">
        <b>{request.wanted}</b>
        <small>
          {decides && `${request.user}, `}
          {moment(request.asked_at)}. {request.reason}
        </small>
        {request.note && <small>Note: {request.note}</small>}
      </div>
      <Status state={state}>{word}</Status>
      {decides && request.state === "open" && <Decide request={request} />}
    </li>
  );
}

function Decide({ request }: { request: RequestView }) {
  const roles = useFetched<RulesState>("/access/rules").data?.roles ?? [];
  const [role, setRole] = useState("");
  const [days, setDays] = useState(7);
  const [note, setNote] = useState("");
  const at = path`/access/requests/${request.request_id}`;
  const decide = async (change: Promise<unknown>, done: string) => {
    const problem = await problemOf(change, "/access/requests", "/users");
    if (problem) tell(problem);
    else toast(done);
  };
  const approve = (event: React.FormEvent) => {
    event.preventDefault();
    void decide(api.post(`${at}/approve`, { role, days, note }), `${request.user} has the role ${role}`);
  };
  return (
    <form className="decide" aria-label={`Decide about ${request.user}`} onSubmit={approve}>
      <label>
        <span className="label">Role</span>
        <select className="input" required value={role} onChange={(event) => setRole(event.target.value)}>
          <option value="">Choose …</option>
          {roles.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        <span className="label">Days</span>
        <input
          className="input"
          type="number"
          required
          min={1}
          max={366}
          value={days}
          onChange={(event) => setDays(event.target.valueAsNumber)}
        />
      </label>
      <label className="grow">
        <span className="label">Note</span>
        <input className="input" maxLength={2000} value={note} onChange={(event) => setNote(event.target.value)} />
      </label>
      <button type="submit" className="btn primary">
        Approve
      </button>
      <button
        type="button"
        className="btn"
        onClick={() => void decide(api.post(`${at}/deny`, { note }), "The request is denied")}
      >
        Deny
      </button>
    </form>
  );
}

function AskForMore() {
  const [wanted, setWanted] = useState("");
  const [reason, setReason] = useState("");
  const ask = async (event: React.FormEvent) => {
    event.preventDefault();
    const problem = await problemOf(api.post("/access/requests", { wanted, reason }), "/access/requests");
    if (problem) return tell(problem);
    setWanted("");
    setReason("");
    toast("Your request is sent");
  };
  return (
    <form className="box addm" aria-label="Ask for more" onSubmit={(event) => void ask(event)}>
      <label>
        <span className="label">What do you need to see or do?</span>
        <input
          className="input"
          name="wanted"
          required
          maxLength={2000}
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
      </label>
      <label>
        <span className="label">What for?</span>
        <input
          className="input"
          name="reason"
          maxLength={2000}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      <div className="row">
        <button type="submit" className="btn primary">
          Send the request
        </button>
      </div>
    </form>
  );
}
