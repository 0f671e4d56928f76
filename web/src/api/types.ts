/** The wire's types under short names. The ones that the OpenAPI document holds come from there. */

export type Json = string | number | bigint | boolean | null | Json[] | { [key: string]: Json };
export interface OutputColumn { name: string; type: string }
export interface StepRecord { id: string; kind: string; source: string | null; code: string | null; row_count: number | null; duration_ms: number; status: "done" | "failed" | "skipped"; data_source_type: string | null; fingerprint: string | null; last_sync: string | null; sandbox: string | null }
export interface Choice { id: number; label: string; code: string | null }
export interface Binding { phrase: string; meaning: string }
export interface ErrorRecord { kind: string; code: string; message: string; hint: string | null; step: string | null }
export interface NumberLink { start: number; end: number; kind: string; row: number | null; column: number | null; basis: string }
export interface ColumnFormat { column: string; header: string; unit: string | null; format: { kind: "number"; decimals: number; grouped: boolean; percent: boolean } | { kind: "date"; style: string } | { kind: "text" } }
export interface Provenance { mind: string; understood: string | null; bindings: Binding[]; confidence: "high" | "medium" | "low" | null; confidence_reason: string | null; sources: string[]; data_source_type: string | null; last_sync: string | null; fingerprint: string | null; plan: Json; chart: Json; format: { columns: ColumnFormat[] } | null; links: NumberLink[]; truncated: boolean; findings: string[]; error: ErrorRecord | null }
export interface Usage { input_tokens: number; output_tokens: number; cost_usd: number | null; model_calls: number; duration_ms: number }
export interface Answer { run_id: string; status: "done" | "partial" | "failed" | "cancelled" | "clarify" | "refused"; kind: "table" | "value" | "chart" | "text" | "clarify" | "refusal"; text: string; columns: OutputColumn[]; rows: Json[][]; row_count: number; steps: StepRecord[]; choices: Choice[]; provenance: Provenance; usage: Usage }
export interface RunSummary { run_id: string; thread_id: string | null; question: string | null; status: string; created_at: string; finished_at: string | null; error_code: string | null; sources: string[]; mode: string | null; kind: string | null; row_count: number | null; duration_ms: number | null; tokens: number | null; cost_usd: number | null }
export interface RunList { runs: RunSummary[]; next_before: string | null }
export interface RunDetail { run: RunSummary; answer: Answer | null }
export interface ThreadSummary { thread_id: string; title: string; pinned: boolean; share_path: string | null; created_at: string; updated_at: string; sources: string[]; last_run_id: string | null; last_status: string | null; last_kind: string | null; excerpt: string | null }
export interface ThreadList { threads: ThreadSummary[]; next_cursor: string | null }
export interface MessageView { message_id: string; role: "user" | "assistant"; content: string; created_at: string; run_id: string | null; run: RunSummary | null; answer: Answer | null }
export interface MessageList { thread_id: string; messages: MessageView[] }
export interface SharedThread { title: string; created_at: string; messages: MessageView[] }
export interface SortKey { column: string; descending: boolean }
export interface Replay { run_id: string; verdict: "same" | "differs" | "cannot"; text: string; steps: Json[] }
export interface StepAttempt { number: number; start_ms: number; end_ms: number | null; outcome: "running" | "done" | "failed"; code: string | null; message: string | null; wait_ms: number | null }
export interface TimelineStep { id: string; kind: string; parent: string | null; after: string[]; status: "not_started" | "running" | "waiting" | "done" | "failed" | "skipped"; start_ms: number | null; end_ms: number | null; critical: boolean; row_count: number | null; code: string | null; source: string | null; model_calls: number; input_tokens: number; output_tokens: number; cost_usd: number | null; message: string | null; attempts: StepAttempt[] }
export interface RunTimeline { run: RunSummary; started_at: string; total_ms: number; steps: TimelineStep[] }
export interface ComparedRow { change: "added" | "removed" | "changed" | "same"; before: Json[] | null; after: Json[] | null; columns: string[] }
export interface ComparedStep { id: string; before_ms: number | null; after_ms: number | null; before_code: string | null; after_code: string | null; code_diff: string }
export interface RunComparison { before: RunSummary; after: RunSummary; same_question: boolean; same_plan: boolean; same_code: boolean; data_changed: boolean | null; columns: OutputColumn[]; changed_columns: Json[]; key: string[]; counts: { added: number; removed: number; changed: number; same: number }; offset: number; rows: ComparedRow[]; plan_diff: string; steps: ComparedStep[] }
export interface SourceProblem { code: string; message: string; hint: string | null }
export interface SourceSummary { name: string; kind: string | null; location: string; origin: "bundled" | "settings" | "added" | "uploaded"; default: boolean; removable: boolean; state: "unread" | "reading" | "ready" | "failed"; tables: number | null; rows: number | null; last_sync: string | null; read_at: string | null; progress: { message: string; done: number | null; total: number | null } | null; error: SourceProblem | null; files: string[] }
export interface SourceList { sources: SourceSummary[]; upload_mb: number }
export interface UploadedFile { file: string; format: string; bytes: number; source: SourceSummary }
export interface Column { name: string; type: string; nullable: boolean; unique: boolean; distinct_count: number | null; null_count: number | null; minimum: Json; maximum: Json; examples: string[]; label: string | null; synonyms: string[]; description: string | null; unit: string | null }
export interface Table { name: string; columns: Column[]; primary_key: string[]; row_count: number | null; label: string | null; synonyms: string[]; description: string | null }
export interface Relationship { name: string; from_table: string; from_columns: string[]; to_table: string; to_columns: string[]; origin: "declared" | "semantic" | "inferred"; confidence: number; synonyms: string[] }
export interface Measure { name: string; table: string; expression: string; label: string | null; synonyms: string[]; unit: string | null }
export interface Catalog { source: string; dialect: string; tables: Table[]; relationships: Relationship[]; measures: Measure[]; last_sync: string | null; warnings: { subject: string; message: string }[] }
export interface RowPage { columns: OutputColumn[]; rows: Json[][]; offset: number; row_count: number }
export interface RowView extends RowPage { total_rows: number }
export interface ColumnStatistics { name: string; type: string; null_count: number; distinct_count: number | null; minimum: Json; maximum: Json; histogram: { low: Json; high: Json; count: number }[]; top_values: { value: Json; count: number }[]; unique: boolean }
export interface TableStatistics { table: string; row_count: number; columns: ColumnStatistics[] }
export interface RelationshipView extends Relationship { matched_rows: number | null; orphan_rows: number | null; state: "used" | "hidden" }
export interface RelationshipList { relationships: RelationshipView[] }
export interface SemanticDocument { source: string; file: string; writable: boolean; version: string; text: string }
export interface SemanticChange { change_id: string; at: string; user: string; note: string | null; before: string; after: string }
export interface SemanticHistory { changes: SemanticChange[] }
export interface EvalRun { eval_id: string; suite: string; status: "running" | "done" | "failed"; started_at: string; finished_at: string | null; done: number; cases: number; correct: number; accuracy: number; coverage: number; precision: number; asked: number; offered: number; failed: number; seconds: number }
export interface EvalSuite { name: string; bundled: boolean; cases: number; last: EvalRun | null; trend: EvalRun[] }
export interface EvalSuiteList { suites: EvalSuite[] }
export interface EvalCaseSummary { id: string; question: string; source: string; outcome: "correct" | "wrong" | "asked" | "failed" | null; offered: boolean; changed: boolean }
export interface EvalSuiteDetail { suite: EvalSuite; cases: EvalCaseSummary[] }
export interface EvalCaseDetail { case: { id: string; question: string; source: string; ordered: boolean; gold_sql: string | null; run_id: string | null }; expected_rows: Json[][] | null; outcome: string | null; got_columns: string[]; got_rows: Json[][]; got_code: string | null; got_text: string | null }
export interface ModelsOverview { configured: boolean; roles: { role: string; models: { name: string; provider: string; model: string; base_url: string | null }[] }[] }
export interface ModelCheck { name: string; works: boolean; checks: Record<string, { ok: boolean; ms: number; error: string | null }>; tokens: number; cost_usd: number | null }
export interface UsageReport { days: { day: string; runs: number; failed: number; tokens: number; cost_usd: number; seconds: number }[]; budgets: { name: string; period: string; tokens_limit: number | null; tokens_spent: number; cost_limit_usd: number | null; cost_spent_usd: number }[] }
export interface DoctorReport { ready: boolean; machine: Record<string, Json>; sandboxes: { backend: string; default: boolean; available: boolean; detail: string; remedy: string | null; walls: Record<string, Json> }[] }
export interface About { version: string; python: string; store: string; home: string; sources: number; uploads: boolean }
