/** Owners of fields, from `managedFields`. */
import { isObject, same } from "./changes.js";

/**
 * @typedef {{ manager: string, operation: string, subresource: string, time: string }} Owner
 * @typedef {import("./field_paths.js").Path} Path
 */

/**
 * Return the managers of a field, the latest first.
 * @param {any} object
 * @param {Path} path
 * @returns {Owner[]}
 */
export function ownersOf(object, path) {
  const entries = object?.metadata?.managedFields ?? [];
  return entries
    .filter((/** @type {any} */ entry) => owns(entry.fieldsV1, object, path))
    .map((/** @type {any} */ { manager, operation, subresource, time }) => ({ manager, operation, subresource: subresource ?? "", time: time ?? "" }))
    .sort((/** @type {Owner} */ a, /** @type {Owner} */ b) => b.time.localeCompare(a.time));
}

/**
 * @param {any} fields
 * @param {any} value
 * @param {Path} path
 */
function owns(fields, value, path) {
  let current = fields;
  let at = value;
  for (const key of path) {
    if (!isObject(current)) return false;
    const child = at !== null && typeof at === "object" ? at[key] : undefined;
    const name = typeof key === "number" ? itemName(current, child) : `f:${key}`;
    if (name === null || !Object.hasOwn(current, name)) return Object.keys(current).length === 0;
    current = current[name];
    at = child;
  }
  return current !== undefined;
}

/**
 * Return the name of an item of a list in a set of fields, or null.
 * @param {any} fields
 * @param {any} item
 */
export function itemName(fields, item) {
  for (const name of Object.keys(fields)) {
    if (name.startsWith("k:") && selects(name.slice(2), item)) return name;
    if (name.startsWith("v:") && same(decoded(name.slice(2)), item)) return name;
  }
  return null;
}

/** @param {string} text @param {any} item */
function selects(text, item) {
  const keys = decoded(text);
  return isObject(keys) && isObject(item) && Object.keys(keys).every((key) => same(keys[key], item[key]));
}

/** @param {string} text */
function decoded(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Return the fields of an object that a manager has applied; undefined if there are none.
 * @param {any} object
 * @param {string} manager
 */
export function appliedBy(object, manager) {
  const entry = (object?.metadata?.managedFields ?? []).find(
    (/** @type {any} */ each) => each.manager === manager && each.operation === "Apply" && !each.subresource,
  );
  return entry ? selected(object, entry.fieldsV1) : undefined;
}

/**
 * Return the part of a value that a set of fields names.
 * @param {any} value
 * @param {any} fields
 * @returns {any}
 */
function selected(value, fields) {
  const names = Object.keys(fields).filter((name) => name !== ".");
  if (names.length === 0 || value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const name = itemName(fields, item);
      return name === null ? [] : [selected(item, fields[name])];
    });
  }
  const part = Object.create(null);
  for (const name of names) {
    const key = name.slice(2);
    if (name.startsWith("f:") && Object.hasOwn(value, key)) part[key] = selected(value[key], fields[name]);
  }
  return part;
}
