import "@fontsource-variable/inter/index.css";
import "@fontsource-variable/jetbrains-mono/index.css";
import "../../src/answerable/web/tokens.css";
import "./styles/base.css";
import "./styles/shared.css";
import "./styles/ask.css";
import "./styles/result.css";
import "./styles/sources.css";
import "./styles/runs.css";
import "./styles/pages.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";

const page = document.getElementById("page");
if (page) {
  createRoot(page).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
