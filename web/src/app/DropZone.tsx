import { Upload } from "lucide-react";
import { useEffect, useState } from "react";
import { type Dropped, droppedFiles } from "../data/dropped";
import { UploadTray } from "../data/UploadTray";
import { addFiles } from "../data/upload";
import { toast } from "../shared/toasts";

/** Accepts files and folders that are dropped anywhere on the page. */
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
    const ended = () => setOver(false); // no pointer events are sent during a drag, so this one means that it has ended
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      if (event.dataTransfer) void droppedFiles(event.dataTransfer).then(addDropped);
    };
    document.addEventListener("dragover", enter);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    document.addEventListener("pointermove", ended);
    return () => {
      document.removeEventListener("dragover", enter);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
      document.removeEventListener("pointermove", ended);
    };
  }, []);
  if (!over) return <UploadTray />;
  return (
    <div className="dropzone">
      <div className="drop float">
        <Upload className="i" aria-hidden />
        <span>
          <b>Drop to add</b>
          Files of a folder, or that come together, can be asked together: CSV, Parquet, Excel, JSON, SQLite, DuckDB
        </span>
      </div>
    </div>
  );
}

function addDropped({ files, folder, left }: Dropped): Promise<void> {
  if (left) toast(left, { state: "warn" });
  return addFiles(files, folder);
}
