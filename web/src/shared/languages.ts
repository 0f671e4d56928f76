/** The languages that the page can colour and edit. Code in any other language is shown as plain text. */
export type Language = "sql" | "python" | "yaml";

const NAMES: Record<Language, string> = { sql: "SQL", python: "Python", yaml: "YAML" };

export function isKnownLanguage(language: string): language is Language {
  return language in NAMES;
}

export function languageName(language: string): string {
  return isKnownLanguage(language) ? NAMES[language] : language;
}
