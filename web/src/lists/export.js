/** Exports of a list: the rows as CSV, or their objects as YAML or JSON. */
import { stringify } from "yaml";
import { masked } from "../details/secret.js";
import { apiPath } from "../discovery/kinds.js";
import { readList } from "../past/read.js";
import { textOf } from "../table/columns.js";
import { t } from "../texts/catalogue.js";

const PAGE = 500;
/** Objects of an export, and characters of their JSON. */
const OBJECTS_MAX = 10_000;
const CHARACTERS_MAX = 64 << 20;

/**
 * Return rows as CSV (RFC 4180). A text that a spreadsheet would take as a formula begins with an apostrophe.
 * @param {import("../table/store.js").Row[]} rows
 * @param {import("../table/columns.js").ListColumn[]} columns
 */
export function csvOf(rows, columns) {
  const lines = [columns.map((each) => each.title || t("column.namespace")), ...rows.map((row) => columns.map((each) => (each.kind === "age" ? (row.metadata.creationTimestamp ?? "") : textOf(row, each))))];
  return lines.map((line) => `${line.map(field).join(",")}\r\n`).join("");
}

/** @param {string} text */
function field(text) {
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Return the objects of rows as a List, as `kubectl get --output` prints them. Values of Secrets are masked.
 * @param {import("../discovery/kinds.js").Kind} kind
 * @param {import("../table/store.js").Row[]} rows
 * @param {Record<string, string>} selectors
 * @param {"yaml" | "json"} format
 * @param {AbortSignal} signal
 */
export async function objectsOf(kind, rows, selectors, format, signal) {
  if (rows.length > OBJECTS_MAX) throw new Error(t("export.too_many", { count: OBJECTS_MAX }));
  /** @type {Map<string, any>} */
  const found = new Map(rows.map((row) => [row.uid, null]));
  let characters = 0;
  for (const namespace of new Set(rows.map((row) => (kind.namespaced ? (row.metadata.namespace ?? "") : "")))) {
    let next = "";
    do {
      const list = await readList(apiPath(kind, namespace), { ...selectors, limit: String(PAGE), ...(next ? { continue: next } : {}) }, { signal });
      for (const item of list.items) {
        if (!found.has(item.metadata.uid)) continue;
        const { managedFields, ...metadata } = item.metadata;
        const object = masked({ apiVersion: list.apiVersion, kind: String(list.kind).replace(/List$/, ""), ...item, metadata });
        characters += JSON.stringify(object).length;
        if (characters > CHARACTERS_MAX) throw new Error(t("export.too_large"));
        found.set(item.metadata.uid, object);
      }
      next = list.metadata?.continue ?? "";
    } while (next);
  }
  const value = { apiVersion: "v1", kind: "List", items: [...found.values()].filter(Boolean) };
  return format === "json" ? `${JSON.stringify(value, null, 2)}\n` : stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
