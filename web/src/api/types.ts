/**
 * The wire's types under short names. All but the last come from the server's OpenAPI document (`schema.ts` is made by
 * `make page-types`), so that page and server cannot drift.
 */

import type { components } from "./schema";

export type Json = string | number | bigint | boolean | null | Json[] | { [key: string]: Json };

/** A reply has every field of its schema, including those with a default. A field without a type is JSON. */
type Told<T> = unknown extends T
  ? Json
  : T extends (infer E)[]
    ? Told<E>[]
    : T extends object
      ? { [K in keyof T]-?: Told<Exclude<T[K], undefined>> }
      : T;
type Schemas = components["schemas"];
export type Reply<Name extends keyof Schemas> = Told<Schemas[Name]>;

export type About = Reply<"About">;
export type IdentityState = Reply<"IdentityState">;
export type Profile = Reply<"Profile">;
export type SessionList = Reply<"SessionList">;
export type AccessExplanation = Reply<"AccessExplanation">;
export type AccessReport = Reply<"AccessReport">;
export type GroupList = Reply<"GroupList">;
export type Invitation = Reply<"Invitation">;
export type RequestList = Reply<"RequestList">;
export type RequestView = Reply<"RequestView">;
export type RulesDiff = Reply<"RulesDiff">;
export type RulesState = Reply<"RulesState">;
export type RulesVersion = Reply<"RulesVersion">;
export type UserList = Reply<"UserList">;
export type UserView = Reply<"UserView">;
export type RulesVersions = Reply<"VersionList">;
export type KeyList = Reply<"KeyList">;
export type NewKey = Reply<"NewKey">;
export type AnswerGraph = Reply<"AnswerGraph">;
export type Binding = Reply<"Binding">;
export type Catalog = Reply<"Catalog">;
export type Choice = Reply<"Choice">;
export type Column = Reply<"Column">;
export type ColumnStatistics = Reply<"ColumnStatistics">;
export type ComparedRow = Reply<"ComparedRow">;
export type ComparedStep = Reply<"ComparedStep">;
export type DoctorReport = Reply<"DoctorReport">;
export type ErrorRecord = Reply<"ErrorRecord">;
export type Explored = Reply<"ExploredTable">;
export type EvalCaseDetail = Reply<"EvalCaseDetail">;
export type EvalCaseSummary = Reply<"EvalCaseSummary">;
export type EvalRun = Reply<"EvalRun">;
export type EvalSuite = Reply<"EvalSuite">;
export type EvalSuiteDetail = Reply<"EvalSuiteDetail">;
export type EvalSuiteList = Reply<"EvalSuiteList">;
export type ModelCheck = Reply<"ModelCheck">;
export type ModelName = Reply<"ModelName">;
export type ModelsOverview = Reply<"ModelsOverview">;
export type NumberLink = Reply<"NumberLink">;
export type OktaSync = Reply<"OktaSync">;
export type OktaSyncList = Reply<"OktaSyncList">;
export type OktaTenantList = Reply<"OktaTenantList">;
export type OutputColumn = Reply<"OutputColumn">;
export type RelationshipList = Reply<"RelationshipList">;
export type RelationshipView = Reply<"RelationshipView">;
export type Replay = Reply<"Replay">;
export type RetentionReport = Reply<"RetentionReport">;
export type RowTotals = Reply<"RowTotals">;
export type Freshness = Reply<"Freshness">;
export type GraphDifference = Reply<"GraphDifference">;
export type GraphDocument = Reply<"GraphDocument">;
export type GraphList = Reply<"GraphList">;
export type GraphReport = Reply<"GraphReport">;
export type GraphRuns = Reply<"GraphRuns">;
export type ReadyGraph = Reply<"ReadyGraph">;
export type ReadyGraphs = Reply<"ReadyGraphs">;
export type GraphVersions = Reply<"GraphVersions">;
export type ScheduleList = Reply<"ScheduleList">;
export type Judgement = Reply<"Judgement">;
export type PlanColumn = Reply<"PlanColumn">;
export type PlanOption = Reply<"PlanOption">;
export type PlanChange = PlanOption["change"];
export type PlanPart = Reply<"ChangeablePart">;
export type PlanParts = Reply<"PlanParts">;
export type WrongAnswer = Reply<"WrongAnswer">;
export type WrongAnswerList = Reply<"WrongAnswerList">;
export type QuestionList = Reply<"QuestionList">;
export type SuggestedQuestion = Reply<"SuggestedQuestion">;
export type Synonym = Reply<"Synonym">;
export type RunComparison = Reply<"RunComparison">;
export type RunList = Reply<"RunList">;
export type RunSummary = Reply<"RunSummary">;
export type RunTimeline = Reply<"RunTimeline">;
export type SemanticDocument = Reply<"SemanticDocument">;
export type SemanticChange = Reply<"SemanticChange">;
export type SemanticHistory = Reply<"SemanticHistory">;
export type SortKey = Reply<"SortKey">;
export type SourceList = Reply<"SourceList">;
export type SourceSummary = Reply<"SourceSummary">;
export type SourceTest = Reply<"SourceTest">;
export type StepAttempt = Reply<"StepAttempt">;
export type StepKind = Reply<"StepKindView">;
export type StepKindList = Reply<"StepKindList">;
export type StepRecord = Reply<"StepRecord">;
export type Table = Reply<"Table">;
export type TableStatistics = Reply<"TableStatistics">;
export type Tenant = Reply<"TenantView">;
export type ThreadList = Reply<"ThreadList">;
export type ThreadSummary = Reply<"ThreadSummary">;
export type TimelineStep = Reply<"TimelineStep">;
export type UploadedFile = Reply<"UploadedFile">;
export type UsageReport = Reply<"UsageReport">;

export type Quantity = "amount" | "change" | "growth" | "share" | "rate";

/** How a column is formatted. The OpenAPI document has it only as JSON, because it is stored with the answer. */
export interface ColumnFormat {
  column: string;
  header: string;
  unit: string | null;
  format:
    | { kind: "number"; decimals: number; grouped: boolean; percent: boolean }
    | { kind: "date"; style: string }
    | { kind: "text" };
  /** Whether its numbers are amounts, changes, shares or rates. Absent in answers of older versions. */
  quantity?: Quantity | null;
}

type Provenance = Omit<Reply<"Provenance">, "format"> & {
  format: { columns: ColumnFormat[]; markdown?: boolean } | null;
};
export type Answer = Omit<Reply<"Answer">, "provenance"> & { provenance: Provenance };
export type RunDetail = Omit<Reply<"RunDetail">, "answer"> & { answer: Answer | null };
export type MessageView = Omit<Reply<"MessageView">, "answer"> & { answer: Answer | null };
export type MessageList = Omit<Reply<"MessageList">, "messages"> & { messages: MessageView[] };
export type RowPage = Omit<Reply<"RowPage">, "columns"> & { columns: OutputColumn[] };
export type SharedThread = Omit<Reply<"SharedThread">, "messages"> & { messages: MessageView[] };
