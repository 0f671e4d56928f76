/** Writes a command as a shell reads it: words with anything special in them are quoted, empty options left out. Pure. */
export function commandLine(...words: (string | [option: string, value: string])[]): string {
  return words
    .flatMap((word) => (typeof word === "string" ? [word] : word[1] ? word : []))
    .map(shellWord)
    .join(" ");
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
