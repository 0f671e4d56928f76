import {
  BookOpen,
  ChevronLeft,
  Database,
  FileSpreadsheet,
  Folder,
  type LucideIcon,
  Shield,
  Waypoints,
} from "lucide-react";
import { useRef, useState } from "react";
import type { SourceList } from "../api/types";
import { addFiles } from "../data/upload";
import { isData } from "../data/uploadPlan";
import { useFetched } from "../shared/fetched";
import { Link } from "../shared/Link";
import { Status } from "../shared/Status";
import { AddByCommand } from "./AddByCommand";
import { AddDatabase } from "./AddDatabase";
import { commandLine } from "./commandLine";
import "./add.css";

type Kind = "file" | "folder" | "database" | "api" | "okta" | "graph";

const KINDS: [Kind, string, LucideIcon][] = [
  ["file", "File", FileSpreadsheet],
  ["folder", "Folder", Folder],
  ["database", "Database", Database],
  ["api", "API document", BookOpen],
  ["okta", "Okta", Shield],
  ["graph", "Graph", Waypoints],
];

/** The kinds of sources, and a short form for the chosen one. */
export function AddSource() {
  const [kind, setKind] = useState<Kind>("file");
  const off = useFetched<SourceList>("/sources").data?.upload_mb === 0;
  return (
    <section className="pane" aria-label="Add a source">
      <div className="head">
        <Link className="btn ghost icon to-list" href="/sources" aria-label="Back to the sources">
          <ChevronLeft className="i" aria-hidden />
        </Link>
        <h2>Add a source</h2>
      </div>
      <div className="scroll">
        <div className="add-kinds" role="group" aria-label="What to add">
          {KINDS.map(([name, label, Icon]) => (
            <button key={name} type="button" className="btn" aria-pressed={kind === name} onClick={() => setKind(name)}>
              <Icon className="i i-s" aria-hidden />
              {label}
            </button>
          ))}
        </div>
        {off && ["file", "folder", "database"].includes(kind) ? <AddingIsOff /> : <Form kind={kind} />}
      </div>
    </section>
  );
}

function Form({ kind }: { kind: Kind }) {
  switch (kind) {
    case "file":
      return <AddFiles folder={false} />;
    case "folder":
      return <AddFiles folder />;
    case "database":
      return <AddDatabase />;
    case "api":
      return <AddByCommand key={kind} {...API} />;
    case "okta":
      return <AddByCommand key={kind} {...OKTA} />;
    case "graph":
      return <AddByCommand key={kind} {...GRAPH} />;
  }
}

/** Where whoever runs the server allows nobody to add sources. */
function AddingIsOff() {
  return (
    <div className="form">
      <p>
        <Status state="refused">Adding sources is turned off on this server.</Status>
      </p>
      <p className="mid">
        Whoever runs the server can allow it with the setting <code className="mono">upload_mb</code>, or add sources
        there with <code className="mono">answerable sources add</code>.
      </p>
    </div>
  );
}

const API = {
  why: "An API is called with a credential of the server, so whoever runs the server adds it, by its OpenAPI 3 document.",
  fields: [
    { name: "document", label: "Document on the server", example: "crm.openapi.yaml" },
    { name: "url", label: "Address of the API", example: "https://crm.example.com/api" },
    { name: "secret", label: "Environment variable with the credential", example: "CRM_TOKEN", optional: true },
    { name: "name", label: "Name here", example: "crm", optional: true },
  ],
  test: (values: Values) => commandLine(...apiCommand(values), "--test"),
  add: (values: Values) => commandLine(...apiCommand(values)),
  afterwards: "It then stands here, without a restart.",
};

type Values = Record<string, string>;

function apiCommand({ document = "", url = "", secret = "", name = "" }: Values) {
  const options: [string, string][] = [
    ["--base-url", url],
    ["--secret-env", secret],
    ["--name", name],
  ];
  return ["answerable", "sources", "add", document, ...options];
}

const OKTA = {
  why: "The token of Okta stays in the environment of the server, so whoever runs the server syncs a tenant for the first time.",
  fields: [
    { name: "name", label: "Name here", example: "corp" },
    { name: "url", label: "Address of the tenant", example: "https://acme.okta.com" },
  ],
  test: null,
  add: ({ name = "", url = "" }: Values) => commandLine("answerable", "okta", "sync", name, url),
  afterwards:
    "The first sync says what is wrong, a missing scope too. Afterwards the tenant is synced and scheduled here.",
};

const GRAPH = {
  why: "A graph is a file or a folder on the server, so whoever runs the server adds it. A folder of CSV or Parquet files with a schema.cypher is a graph, too.",
  fields: [
    { name: "folder", label: "File or folder on the server", example: "./company" },
    { name: "name", label: "Name here", example: "company", optional: true },
  ],
  test: ({ folder = "", name = "" }: Values) =>
    commandLine("answerable", "sources", "add", folder, ["--name", name], "--test"),
  add: ({ folder = "", name = "" }: Values) => commandLine("answerable", "sources", "add", folder, ["--name", name]),
  afterwards: "It then stands here, without a restart.",
};

function AddFiles({ folder }: { folder: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const take = (chosen: File[]) => {
    const files = folder ? chosen.filter((file) => isData(file.name)) : chosen;
    setProblem(chosen.length && !files.length ? "There is no file in this folder that can be read." : null);
    const name = folder ? (chosen[0]?.webkitRelativePath.split("/")[0] ?? null) : null;
    if (files.length) void addFiles(files, name);
  };
  return (
    <div className="form">
      <p className="mid">
        {folder
          ? "All tables of the folder become one source, so that a question can join them."
          : "CSV, Parquet, Excel, JSON, SQLite or DuckDB. Files that are chosen together become one source."}{" "}
        Each is tested by its content; one that cannot be read is refused with the reason, and not added.
      </p>
      <button type="button" className="btn primary" onClick={() => input.current?.click()}>
        {folder ? "Choose a folder" : "Choose files"}
      </button>
      {problem && (
        <p className="err" role="alert">
          {problem}
        </p>
      )}
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label={folder ? "Folder to add" : "Files to add here"}
        {...(folder && { webkitdirectory: "" })}
        onChange={(event) => take([...(event.target.files ?? [])])}
      />
    </div>
  );
}
