import "@fontsource-variable/inter/index.css";
import "@fontsource-variable/jetbrains-mono/index.css";
import "../../src/answerable/web/tokens.css";
import "./styles/base.css";
import "./styles/shared.css";
import "./styles/ask.css";
import "./answer/answer.css";
import "./styles/result.css";
import "./styles/sources.css";
import "./styles/runs.css";
import "./styles/pages.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Problem } from "./api/client";
import { watchLinks } from "./api/door";
import { watchServer } from "./api/reach";
import { App } from "./app/App";
import { fetchViews } from "./app/views";
import { Doorway } from "./identity/Doorway";
import { warmUpTable } from "./result/warmUp";
import { toast } from "./shared/toasts";

/** Shows the error of a failed action that no component has handled. */
window.addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof Problem)) return;
  event.preventDefault();
  toast([event.reason.message, event.reason.hint].filter(Boolean).join(" "), { state: "error" });
});

/** Loads the parts that are likely needed next. If that fails, each is loaded when it is needed. */
async function prepare(): Promise<void> {
  warmUpTable();
  await Promise.allSettled([import("./shared/Markdown"), import("./answer/arrow")]);
  await fetchViews();
}

const page = document.getElementById("page");
if (page) {
  watchLinks();
  createRoot(page).render(
    <StrictMode>
      <Doorway>
        <App />
      </Doorway>
    </StrictMode>,
  );
  (window.requestIdleCallback ?? setTimeout)(() => void prepare());
  watchServer();
}
