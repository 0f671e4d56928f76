// The routes as the OpenAPI document tells them. No part of this comes from elsewhere.

import { byId, el } from "./dom.js";

const schemaName = (schema) => schema?.$ref?.split("/").at(-1);

function resolved(schema, components) {
  const name = schemaName(schema);
  return name ? components[name] : schema;
}

function parameters(operation) {
  const rows = (operation.parameters ?? []).map((p) =>
    el("li", {}, el("code", {}, p.name), ` in ${p.in}${p.required ? "" : ", optional"}. `, p.description ?? ""),
  );
  return rows.length ? [el("h4", {}, "Parameters"), el("ul", {}, rows)] : [];
}

function body(operation, components) {
  const schema = operation.requestBody?.content?.["application/json"]?.schema;
  if (!schema) return [];
  return [el("h4", {}, "Body"), el("pre", {}, JSON.stringify(resolved(schema, components), null, 2))];
}

function responses(operation) {
  const rows = Object.entries(operation.responses).map(([status, reply]) => {
    const types = Object.keys(reply.content ?? {}).join(", ");
    return el("li", {}, el("code", {}, status), ` ${reply.description ?? ""} `, el("span", { class: "dim" }, types));
  });
  return [el("h4", {}, "Replies"), el("ul", {}, rows)];
}

function shown(verb, path, operation, components) {
  return el(
    "details",
    {},
    el("summary", {}, el("span", { class: "verb" }, verb.toUpperCase()), el("code", {}, path), ` ${operation.summary ?? ""}`),
    el("p", {}, operation.description ?? ""),
    parameters(operation),
    body(operation, components),
    responses(operation),
  );
}

const document_ = await (await fetch("/openapi.json")).json();
const listing = Object.entries(document_.paths).flatMap(([path, verbs]) =>
  Object.entries(verbs).map(([verb, operation]) => shown(verb, path, operation, document_.components.schemas)),
);
byId("operations").replaceChildren(...listing);
