/** Fields that differ between two states of an object. Items of lists are found by their names, so that an insertion is one change. */
import { isObject, same } from "../edit/changes.js";

/**
 * @typedef {{ path: string, before: unknown, after: unknown }} Field
 * `path`: as people write it, with the names of items: `spec.containers[web].image`. `before` or `after` is undefined for a field that was added or removed.
 */

const FIELDS_MAX = 500;
/** Fields that every write changes, and copies of other fields. */
const NOISE = new Set(["metadata.resourceVersion", "metadata.managedFields", "metadata.generation", "metadata.selfLink"]);
/** Keys by which items of lists are found, the best first. */
const KEYS = ["name", "type", "key", "uid", "containerPort", "port", "mountPath", "ip"];

/**
 * Return the fields that differ.
 * @param {any} before null: the object did not exist
 * @param {any} after
 * @returns {Field[]}
 */
export function changedFields(before, after) {
  /** @type {Field[]} */
  const found = [];
  walk(before ?? undefined, after ?? undefined, "", found);
  return found;
}

/**
 * @param {any} before
 * @param {any} after
 * @param {string} path
 * @param {Field[]} found
 */
function walk(before, after, path, found) {
  if (found.length >= FIELDS_MAX || NOISE.has(path) || same(before, after)) return;
  if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) walk(own(before, name), own(after, name), step(path, name), found);
    return;
  }
  const key = Array.isArray(before) && Array.isArray(after) ? commonKey(before, after) : undefined;
  if (key === undefined) {
    found.push({ path, before, after });
    return;
  }
  const [from, to] = [before, after].map((list) => new Map(list.map((/** @type {any} */ item) => [String(item[key]), item])));
  for (const name of new Set([...from.keys(), ...to.keys()])) walk(from.get(name), to.get(name), `${path}[${name}]`, found);
  const known = [...from.keys()].filter((name) => to.has(name));
  if (!same(known, [...to.keys()].filter((name) => from.has(name)))) found.push({ path, before: [...from.keys()], after: [...to.keys()] });
}

/**
 * Return the key that names the items of both lists, or undefined.
 * @param {any[]} before
 * @param {any[]} after
 */
function commonKey(before, after) {
  const names = (/** @type {any[]} */ list, /** @type {string} */ key) =>
    list.every((item) => isObject(item) && ["string", "number"].includes(typeof item[key])) && new Set(list.map((item) => String(item[key]))).size === list.length;
  if (before.length + after.length === 0) return undefined;
  return KEYS.find((key) => names(before, key) && names(after, key));
}

/**
 * @param {string} path
 * @param {string} name
 */
function step(path, name) {
  if (!/^[\w-]+$/.test(name)) return `${path}[${name}]`;
  return path ? `${path}.${name}` : name;
}

/** @param {any} object @param {string} name */
function own(object, name) {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * Return a path as the one of a changed field: with the names of items.
 * @param {any} object
 * @param {import("../edit/field_paths.js").Path} path
 */
export function namedPath(object, path) {
  let text = "";
  let value = object;
  for (const each of path) {
    const key = Array.isArray(value) ? commonKey(value, value) : undefined;
    const inner = value?.[each];
    text = Array.isArray(value) ? `${text}[${key === undefined ? each : inner?.[key]}]` : step(text, String(each));
    value = inner;
  }
  return text;
}

/**
 * Return whether a change is only of the status, or of fields that controllers refresh.
 * @param {Field[]} fields
 */
export function isStatusOnly(fields) {
  return fields.every(({ path }) => path === "status" || path.startsWith("status.") || path.startsWith("status["));
}
