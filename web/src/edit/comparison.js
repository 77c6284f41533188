/** Comparison of what is stored, what the user wrote, and what would be stored: lines side by side, each with who changes it. */
import { MASK, isSecret, masked } from "../details/secret.js";
import { t } from "../texts/catalogue.js";
import { same } from "./changes.js";
import { ownersOf } from "./field_owners.js";
import { follow, parsePath, pathOfPointer, valueAt } from "./field_paths.js";
import { align } from "./lines.js";
import { manifestOf, readManifest } from "./manifest.js";
import { withoutServerFields } from "./server_fields.js";

/**
 * @typedef {import("./field_paths.js").Path} Path
 * @typedef {{ texts: (string | null)[], changed: boolean[], who: { text: string, kind: string } | null }} Compared
 * `changed`: whether a column differs from what would be stored.
 * @typedef {{ base: any, stored: any, yours: any, result: any, steps: import("./saving.js").Step[] | null, left: import("./saving.js").Conflict[] }} Sources
 * `left`: fields that stay with their managers.
 */

const CONTEXT = 2;

/**
 * Return the rows of a comparison; numbers stand for as many equal rows.
 * @param {Sources} sources
 * @returns {(Compared | number)[]}
 */
export function compare(sources) {
  const objects = [sources.stored, sources.yours, sources.result].map((each) => withoutServerFields(hiddenValues(each, sources.stored)));
  const ordered = [inOrderOf(objects[0], objects[2]), inOrderOf(objects[1], objects[2]), objects[2]];
  const texts = ordered.map((each) => manifestOf(each).trimEnd());
  const paths = texts.map(pathsByLine);
  const rows = align(texts.map((text) => text.split("\n"))).map(({ texts: cells, lines }) => {
    const changed = [cells[0] !== cells[2], cells[1] !== cells[2], false];
    const column = lines[2] !== null ? 2 : lines[0] !== null ? 0 : 1;
    const path = paths[column].get(/** @type {number} */ (lines[column])) ?? [];
    return { texts: cells, changed, who: changed[0] || changed[1] ? whoChanged(path, sources, column) : null };
  });
  return folded(rows);
}

/**
 * Return an object without the values of a Secret; those that differ from the stored ones are marked.
 * @param {any} object
 * @param {any} stored
 */
export function hiddenValues(object, stored) {
  if (!isSecret(object)) return object;
  const copy = masked(object);
  for (const field of ["data", "stringData"]) {
    for (const name of Object.keys(copy[field] ?? {})) {
      if (object[field][name] !== valueAt(stored, [field, name])) copy[field][name] = `${MASK} ${t("secret.changed")}`;
    }
  }
  return copy;
}

/** @param {Compared[]} rows @returns {(Compared | number)[]} */
function folded(rows) {
  const shown = rows.map(() => false);
  rows.forEach((row, i) => {
    if (!row.changed[0] && !row.changed[1]) return;
    for (let k = Math.max(0, i - CONTEXT); k <= Math.min(rows.length - 1, i + CONTEXT); k++) shown[k] = true;
  });
  /** @type {(Compared | number)[]} */
  const result = [];
  rows.forEach((row, i) => {
    if (shown[i]) result.push(row);
    else if (typeof result.at(-1) === "number") result[result.length - 1] = /** @type {number} */ (result.at(-1)) + 1;
    else result.push(1);
  });
  return result;
}

/**
 * Return a value with its keys in the order of another one, so that only changes differ.
 * @param {any} value
 * @param {any} model
 * @returns {any}
 */
export function inOrderOf(value, model) {
  if (Array.isArray(value)) return value.map((item, i) => inOrderOf(item, Array.isArray(model) ? model[i] : undefined));
  if (value === null || typeof value !== "object") return value;
  const ordered = Object.create(null);
  const known = model && typeof model === "object" ? Object.keys(model).filter((name) => Object.hasOwn(value, name)) : [];
  for (const name of new Set([...known, ...Object.keys(value)])) ordered[name] = inOrderOf(value[name], known.includes(name) ? model[name] : undefined);
  return ordered;
}

/**
 * Return the path of the field that begins on each line.
 * @param {string} text
 */
export function pathsByLine(text) {
  /** @type {Map<number, Path>} */
  const paths = new Map();
  const starts = [0];
  for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) starts.push(i + 1);
  const lineOf = (/** @type {number} */ at) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const walk = (/** @type {any} */ node, /** @type {Path} */ path) => {
    const items = node?.items ?? [];
    items.forEach((/** @type {any} */ item, /** @type {number} */ i) => {
      const inner = [...path, item.key !== undefined ? String(item.key.value ?? item.key) : i];
      const first = lineOf((item.key ?? item)?.range?.[0] ?? 0);
      const last = lineOf(Math.max(0, ((item.key ? item.value : item)?.range?.[1] ?? 1) - 1));
      for (let line = first; line <= last; line++) paths.set(line, inner);
      walk(item.key !== undefined ? item.value : item, inner);
    });
  };
  walk(readManifest(text).parts[0]?.document.contents, []);
  return paths;
}

/**
 * Return who changes a field: the user, a webhook, a default, or another client since the edit began.
 * @param {Path} path
 * @param {Sources} sources
 * @param {number} column in which the path is: 0 stored, 1 yours, 2 result
 */
function whoChanged(path, { base, stored, yours, result, steps, left }, column) {
  const before = [base, stored, yours, result].map((each) => valueAt(each, path));
  if (column !== 1 && !same(before[0], before[1]) && same(before[1], before[3])) {
    const manager = ownersOf(stored, path)[0]?.manager;
    return { kind: "warn", text: manager ? t("review.since_by", { manager }) : t("review.since") };
  }
  const stays = same(before[1], before[3]) && left.find(({ field }) => related(follow(yours, parsePath(field)).path, path));
  if (stays) return { kind: "neutral", text: t("review.left", { manager: stays.manager }) };
  if (steps) {
    for (const step of [...steps].reverse()) {
      const touches = (/** @type {{ path: string }} */ change) => related(pathOfPointer(change.path, result), path);
      if (!step.changes?.some(touches)) continue;
      if (!/admission/.test(step.name) && step.name !== "defaults" && step.name !== "prepare") return { kind: "good", text: t("review.you") };
      const webhooks = (step.webhooks ?? []).filter((each) => each.patch.some(touches)).map((each) => each.webhook);
      if (webhooks.length) return { kind: "progress", text: t("review.webhook", { name: webhooks.join(", ") }) };
      if (step.detail) return { kind: "progress", text: t("review.plugin", { name: step.detail }) };
      return { kind: "progress", text: step.name === "defaults" ? t("review.default") : t("review.server") };
    }
  }
  if (same(before[2], before[3])) return { kind: "good", text: t("review.you") };
  return { kind: "progress", text: t("review.server") };
}

/** @param {Path} a @param {Path} b */
function related(a, b) {
  const length = Math.min(a.length, b.length);
  return a.length <= b.length + 1 && a.slice(0, length).every((key, i) => String(key) === String(b[i])) && (a.length <= b.length || b.length > 0);
}
