/** Completion of fields and values, and descriptions on hover, from the OpenAPI schema of the kind. */
import { autocompletion } from "@codemirror/autocomplete";
import { hoverTooltip } from "@codemirror/view";
import { childSchema, descriptionOf, typeOf } from "../schema/schema.js";
import { t } from "../texts/catalogue.js";
import { lineOf, pathAbove, placeAt } from "./cursor_path.js";

/**
 * @typedef {import("../schema/schema.js").Schema | null} Schema
 * @typedef {(lines: string[], at: number) => Schema} SchemaAt returns the schema of the document of a line
 */

/**
 * Return the extensions of the editor.
 * @param {SchemaAt} schemaAt
 */
export function completions(schemaAt) {
  return [
    autocompletion({ override: [(context) => complete(context, schemaAt)], icons: false, activateOnTypingDelay: 50 }),
    hoverTooltip((view, at) => hover(view, at, schemaAt)),
  ];
}

/**
 * @param {import("@codemirror/autocomplete").CompletionContext} context
 * @param {SchemaAt} schemaAt
 * @returns {import("@codemirror/autocomplete").CompletionResult | null}
 */
function complete({ state, pos, explicit }, schemaAt) {
  const lines = state.doc.toString().split("\n");
  const line = state.doc.lineAt(pos);
  const place = placeAt(lines, line.number - 1, pos - line.from);
  if (!place || (!explicit && place.prefix === "" && !place.value)) return null;
  const dotted = place.value ? [] : place.prefix.split(".").slice(0, -1);
  const schema = schemaOf(schemaAt(lines, line.number - 1), [...place.path, ...dotted]);
  if (!schema) return null;
  const options = place.value ? valueOptions(schema) : fieldOptions(schema, place, dotted);
  return options.length ? { from: line.from + place.from, options, validFor: place.value ? /^[\w.-]*$/ : /^[\w-]*$/ } : null;
}

/** @param {Schema} schema @param {(string | number)[]} path */
export function schemaOf(schema, path) {
  return path.reduce((/** @type {Schema} */ found, key) => childSchema(found, key), schema);
}

/** @param {NonNullable<Schema>} schema @param {import("./cursor_path.js").Place} place @param {string[]} dotted */
function fieldOptions(schema, place, dotted) {
  const required = new Set(/** @type {string[]} */ (schema.node.required ?? []));
  return Object.keys(schema.node.properties ?? {}).filter((name) => dotted.length > 0 || !place.siblings.has(name)).map((name) => {
    const child = childSchema(schema, name);
    return {
      label: [...dotted, name].join("."), type: "property", boost: required.has(name) ? 50 : 0,
      detail: required.has(name) ? `${typeOf(child)}, ${t("schema.required")}` : typeOf(child),
      info: descriptionOf(child) || undefined,
      apply: insertion([...dotted, name], child, place.column),
    };
  });
}

/** @param {string[]} names @param {Schema} child @param {number} column */
function insertion(names, child, column) {
  const opened = names.slice(0, -1).map((name, i) => `${name}:\n${" ".repeat(column + 2 * (i + 1))}`).join("");
  const indent = " ".repeat(column + 2 * names.length);
  const type = typeOf(child);
  return `${opened}${names.at(-1)}:${type.endsWith("[]") ? `\n${indent}- ` : type === "object" ? `\n${indent}` : " "}`;
}

/** @param {NonNullable<Schema>} schema */
function valueOptions({ node }) {
  const values = /** @type {unknown[]} */ (node.enum ?? (node.type === "boolean" ? [true, false] : []));
  const all = node.default !== undefined && !values.includes(node.default) && typeof node.default !== "object" ? [node.default, ...values] : values;
  return all.map((value) => ({ label: String(value), type: "constant", boost: value === node.default ? 10 : 0, detail: value === node.default ? t("schema.default") : "" }));
}

/** @param {import("@codemirror/view").EditorView} view @param {number} at @param {SchemaAt} schemaAt */
function hover(view, at, schemaAt) {
  const line = view.state.doc.lineAt(at);
  const parsed = lineOf(line.text);
  if (parsed.key === null || at - line.from < parsed.column || at - line.from > parsed.column + parsed.key.length) return null;
  const lines = view.state.doc.toString().split("\n");
  const parent = schemaOf(schemaAt(lines, line.number - 1), pathAbove(lines, line.number - 1, parsed));
  const schema = childSchema(parent, parsed.key);
  if (!schema) return null;
  const required = /** @type {string[]} */ (parent?.node.required ?? []).includes(parsed.key);
  const from = line.from + parsed.column;
  return { pos: from, end: from + parsed.key.length, above: true, create: () => ({ dom: description(/** @type {string} */ (parsed.key), schema, required) }) };
}

/** @param {string} key @param {NonNullable<Schema>} schema @param {boolean} required */
function description(key, schema, required) {
  const { node } = schema;
  const facts = [typeOf(schema), required ? t("schema.required") : "", node.default === undefined ? "" : `${t("schema.default")} ${JSON.stringify(node.default)}`,
    node.enum ? `${t("schema.one_of")} ${/** @type {unknown[]} */ (node.enum).join(", ")}` : ""].filter(Boolean);
  const box = document.createElement("div");
  box.className = "field-help";
  box.translate = false;
  for (const [name, text] of [["field-help-title", `${key}: ${facts.join(" · ")}`], ["field-help-text", descriptionOf(schema)]]) {
    const part = document.createElement("div");
    part.className = name;
    part.textContent = text;
    if (text) box.append(part);
  }
  return box;
}
