import { Upload } from "lucide-react";
import { useEffect, useState } from "react";
import { addFiles } from "../sources/upload";

/** Files may be dropped anywhere on the page. */
export function DropZone() {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      void addFiles([...(event.dataTransfer?.files ?? [])]);
    };
    document.addEventListener("dragover", enter);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", enter);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
    };
  }, []);
  if (!over) return null;
  return (
    <div className="dropzone">
      <div className="drop float">
        <Upload className="i" aria-hidden />
        <span>
          <b>Drop to add</b>
          CSV, Parquet, Excel, JSON, SQLite, DuckDB
        </span>
      </div>
    </div>
  );
}
