type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

const keepDigits: Reviver = (_, value, context) => {
  const whole = typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "");
  return whole ? BigInt(context?.source ?? "") : value;
};

/** Parses JSON; whole numbers beyond 2^53 keep their digits where the browser shows the source text. */
export function parseJson<T>(text: string): T {
  return JSON.parse(text, keepDigits) as T;
}
