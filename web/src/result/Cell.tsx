import type { Json } from "../api/types";
import { type CellFormat, cellText } from "./cells";

/** Null, empty text and a value look like three things, because they are. */
export function CellValue({ value, format }: { value: Json; format: CellFormat }) {
  if (value === null) return <span className="null">null</span>;
  if (value === "") return <span className="null">""</span>;
  return <>{cellText(value, format)}</>;
}
