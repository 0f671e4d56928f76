/** The address of a database with its password, or null if the address names no user for it. Pure. */
export function withPassword(address: string, password: string): string | null {
  if (!password) return address;
  const [, scheme = "", user, rest = ""] = /^([a-z]+:\/\/)(?:([^@/?]*)@)?(.*)$/i.exec(address) ?? [];
  if (!scheme || !user) return null;
  const [name = ""] = user.split(":");
  return `${scheme}${name}:${encodeURIComponent(password)}@${rest}`;
}

export type Field = "address" | "password" | "name";

const AT_FAULT: Record<string, Field> = { source_login: "password", source_exists: "name" };

/** The field of the form that a problem is about. */
export function fieldAtFault(code: string | null | undefined): Field {
  return AT_FAULT[code ?? ""] ?? "address";
}
