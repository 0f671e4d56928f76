import { AnswerBody } from "../answer/AnswerBody";
import { path } from "../api/client";
import type { SharedThread } from "../api/types";
import { Receipt } from "../run/Receipt";
import { useFetched } from "../shared/fetched";
import { moment } from "../shared/format";
import { ProblemNotice } from "../shared/Notice";

/** A shared thread, for reading only. */
export default function SharedView({ token }: { token: string }) {
  const shared = useFetched<SharedThread>(path`/shared/${token}`);
  return (
    <main className="shared-view scroll">
      {shared.problem && <ProblemNotice problem={shared.problem} />}
      {shared.data && (
        <>
          <h2>{shared.data.title}</h2>
          <p className="dim">Shared to read, from {moment(shared.data.created_at)}.</p>
          <div className="turns">
            {shared.data.messages.map((message) => (
              <article className="turn" key={message.message_id}>
                {message.role === "user" ? (
                  <div className="q">
                    <h2>{message.content}</h2>
                  </div>
                ) : message.answer ? (
                  <>
                    <AnswerBody answer={message.answer} rows={message.answer.rows} />
                    <Receipt answer={message.answer} ms={message.run?.duration_ms ?? null} />
                  </>
                ) : (
                  <p className="prose">{message.content}</p>
                )}
              </article>
            ))}
          </div>
        </>
      )}
    </main>
  );
}
