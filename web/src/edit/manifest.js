/** Manifests: YAML as kubectl reads it, with the positions of fields. Large texts and too many aliases are refused. */
import { LineCounter, isAlias, isMap, isScalar, isSeq, parseAllDocuments, stringify, visit } from "yaml";
import { t } from "../texts/catalogue.js";

/** Characters of a text that are accepted; the server reads no more than 3 MiB. */
export const TEXT_MAX = 3_000_000;
const VALUES_MAX = 100_000;
const ALIASES_MAX = 100;
const DOCUMENTS_MAX = 100;

/** YAML 1.1 as in Kubernetes: `0755` is octal, `yes` is true, but times stay texts. */
const OPTIONS = /** @type {const} */ ({
  version: "1.1", customTags: withoutTimes, prettyErrors: false, strict: true, uniqueKeys: true, logLevel: "silent",
});
const WRITE = /** @type {const} */ ({ version: "1.1", customTags: withoutTimes, lineWidth: 0, aliasDuplicateObjects: false });

/** @param {any[]} tags */
function withoutTimes(tags) {
  return tags.filter((tag) => tag.format !== "TIME" && !String(tag.tag).endsWith(":timestamp"));
}

/**
 * @typedef {{ from: number, to: number, message: string }} Fault
 * @typedef {{ document: any, value: any, from: number }} Part
 * @typedef {{ parts: Part[], faults: Fault[] }} Manifest
 */

/**
 * Read a text. Documents without content are left out.
 * @param {string} text
 * @returns {Manifest}
 */
export function readManifest(text) {
  if (text.length > TEXT_MAX) return { parts: [], faults: [{ from: 0, to: 0, message: t("edit.too_long") }] };
  const parsed = parseAllDocuments(text, { ...OPTIONS, lineCounter: new LineCounter() });
  const documents = Array.isArray(parsed) ? parsed : [];
  if (documents.length > DOCUMENTS_MAX) return { parts: [], faults: [{ from: 0, to: 0, message: t("edit.too_many_documents", { count: DOCUMENTS_MAX }) }] };
  /** @type {Fault[]} */
  const faults = [];
  /** @type {Part[]} */
  const parts = [];
  for (const document of documents) {
    for (const error of document.errors) faults.push({ from: error.pos[0], to: error.pos[1], message: error.message });
    if (document.errors.length || document.contents === null) continue;
    const fault = faultOf(document);
    if (fault) faults.push(fault);
    else if (isMap(document.contents)) parts.push({ document, value: document.toJS({ maxAliasCount: ALIASES_MAX }), from: document.range[0] });
    else if (!isScalar(document.contents) || document.contents.value !== null) faults.push({ from: document.range[0], to: document.range[1], message: t("edit.no_object") });
  }
  return { parts, faults };
}

/**
 * Return why a document is refused: it would be too large with its aliases, or has a number that is not exact.
 * @param {any} document
 * @returns {Fault | null}
 */
function faultOf(document) {
  let fault = null;
  /** Values with all aliases inside, by anchor: an alias counts as what it stands for. @type {Map<string, number>} */
  const sizes = new Map();
  const sizeOf = (/** @type {any} */ node) => {
    if (isAlias(node)) return sizes.get(node.source) ?? 1;
    let size = 1;
    const items = isMap(node) ? node.items.flatMap((pair) => [pair.key, pair.value]) : isSeq(node) ? node.items : [];
    for (const item of items) size += sizeOf(item);
    if (node?.anchor) sizes.set(node.anchor, size);
    return size;
  };
  if (sizeOf(document.contents) > VALUES_MAX) return { from: document.range[0], to: document.range[0], message: t("edit.too_many_values") };
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value !== "number" || !Number.isInteger(node.value) || Number.isSafeInteger(node.value)) return undefined;
      fault = { from: node.range?.[0] ?? 0, to: node.range?.[1] ?? 0, message: t("edit.inexact") };
      return visit.BREAK;
    },
  });
  if (fault) return fault;
  try {
    document.toJS({ maxAliasCount: ALIASES_MAX });
    return null;
  } catch {
    return { from: document.range[0], to: document.range[0], message: t("edit.too_many_values") };
  }
}

/**
 * Return the place of a field: its key and value if they are on one line, otherwise its key.
 * @param {any} document
 * @param {import("./field_paths.js").Path} path
 * @returns {{ from: number, to: number }}
 */
export function placeOf(document, path) {
  let node = document.contents;
  let place = { from: document.range[0], to: document.range[0] };
  for (const key of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find((each) => String(isScalar(each.key) ? each.key.value : "") === String(key));
      if (!pair) break;
      const name = /** @type {any} */ (pair.key).range;
      node = pair.value;
      const simple = isScalar(node) && !String(node.type).startsWith("BLOCK_");
      place = { from: name[0], to: simple ? (/** @type {any} */ (node).range?.[1] ?? name[1]) : name[1] };
    } else if (isSeq(node) && node.items[Number(key)]) {
      node = node.items[Number(key)];
      const range = /** @type {any} */ (node)?.range;
      if (range) place = { from: range[0], to: isScalar(node) ? range[1] : range[0] + 1 };
    } else {
      break;
    }
  }
  return place;
}

/**
 * Return an object as text, with what the server writes at the end.
 * @param {any} object
 */
export function manifestOf({ apiVersion, kind, metadata, status, ...rest }) {
  const { managedFields, ...named } = metadata ?? {};
  const ordered = { apiVersion, kind, metadata: managedFields ? { ...named, managedFields } : named, ...rest };
  return stringify(status === undefined ? ordered : { ...ordered, status }, WRITE);
}

/** @param {any} document */
export function textOf(document) {
  return document.toString({ lineWidth: 0 });
}

/** @param {unknown} value */
export function yamlOf(value) {
  return stringify(value, WRITE);
}
