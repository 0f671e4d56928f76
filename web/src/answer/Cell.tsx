import type { Json } from "../api/types";
import { type CellFormat, cellText } from "./cells";

/** A cell. Null, empty text and a value look different. */
export function written(value: Json, format: CellFormat): { text: string; quiet: boolean } {
  if (value === null) return { text: "null", quiet: true };
  if (value === "") return { text: '""', quiet: true };
  return { text: cellText(value, format), quiet: false };
}

export function CellValue({ value, format }: { value: Json; format: CellFormat }) {
  const { text, quiet } = written(value, format);
  return quiet ? <span className="null">{text}</span> : text;
}
