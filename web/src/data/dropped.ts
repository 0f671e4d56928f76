import { count } from "../shared/format";
import { isData } from "./uploadPlan";

export interface Dropped {
  files: File[];
  /** The name of the dropped folder, if it was a single one. */
  folder: string | null;
  /** A sentence about the files that are left out; null if there are none. */
  left: string | null;
}

const MOST_FILES = 200;

/** All dropped files, including those inside folders. */
export async function droppedFiles(transfer: DataTransfer): Promise<Dropped> {
  const plain = [...transfer.files];
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (!entries.some((entry) => entry.isDirectory)) return { files: plain, folder: null, left: null };
  const found = (await Promise.all(entries.map(filesIn))).flat();
  const only = entries.length === 1 ? (entries[0]?.name ?? null) : null;
  const data = found.filter((file) => isData(file.name));
  return { files: data.slice(0, MOST_FILES), folder: only, left: leftOut(data.length) };
}

function leftOut(files: number): string | null {
  if (!files) return "There is no file in this folder that can be read.";
  return files > MOST_FILES ? `The folder has ${count(files)} files; the first ${MOST_FILES} are added.` : null;
}

async function filesIn(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile)
    return [await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))];
  const inside = await entriesOf((entry as FileSystemDirectoryEntry).createReader());
  return (await Promise.all(inside.map(filesIn))).flat();
}

/** Reads a whole folder. A directory reader returns some entries at a time, and none at the end. */
async function entriesOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
  return some.length ? [...some, ...(await entriesOf(reader))] : [];
}
