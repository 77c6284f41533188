/**
 * What the user has changed, for a server-side apply: only these fields, in the form of a manifest.
 * Objects are made without a prototype, so that a key `__proto__` is data.
 */
import { childSchema } from "../schema/schema.js";

/**
 * @typedef {import("../schema/schema.js").Schema | null} Schema
 * @typedef {import("./field_paths.js").Path} Path
 * @typedef {{ config: any, removed: Path[] }} Changes
 * `config` has what was added or changed; undefined if nothing was. `removed` are paths in the object before the edit.
 */

/**
 * Return the difference of two objects.
 * @param {any} before
 * @param {any} after
 * @param {Schema} schema
 * @returns {Changes}
 */
export function changesOf(before, after, schema) {
  /** @type {Path[]} */
  const removed = [];
  return { config: difference(before, after, schema, [], removed), removed };
}

/**
 * @param {any} before
 * @param {any} after
 * @param {Schema} schema
 * @param {Path} path
 * @param {Path[]} removed
 * @returns {any}
 */
function difference(before, after, schema, path, removed) {
  if (same(before, after)) return undefined;
  if (isObject(before) && isObject(after) && schema?.node["x-kubernetes-map-type"] !== "atomic") return mapDifference(before, after, schema, path, removed);
  if (Array.isArray(before) && Array.isArray(after)) {
    const keys = listKeys(schema);
    if (keys && hasKeys(before, keys) && hasKeys(after, keys)) return listDifference(before, after, keys, schema, path, removed);
    if (schema?.node["x-kubernetes-list-type"] === "set") return setDifference(before, after, path, removed);
  }
  return after;
}

/** @param {any} before @param {any} after @param {Schema} schema @param {Path} path @param {Path[]} removed */
function mapDifference(before, after, schema, path, removed) {
  const config = Object.create(null);
  for (const name of Object.keys(after)) {
    const inner = Object.hasOwn(before, name)
      ? difference(before[name], after[name], childSchema(schema, name), [...path, name], removed)
      : after[name];
    if (inner !== undefined) config[name] = inner;
  }
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) removed.push([...path, name]);
  return Object.keys(config).length ? config : undefined;
}

/** @param {any[]} before @param {any[]} after @param {string[]} keys @param {Schema} schema @param {Path} path @param {Path[]} removed */
function listDifference(before, after, keys, schema, path, removed) {
  const config = [];
  for (const item of after) {
    const index = before.findIndex((each) => sameKeys(each, item, keys));
    const inner = index < 0 ? item : difference(before[index], item, childSchema(schema, 0), [...path, index], removed);
    if (inner === undefined) continue;
    config.push(index < 0 ? inner : Object.assign(Object.create(null), keysOf(item, keys), inner));
  }
  before.forEach((each, index) => {
    if (!after.some((item) => sameKeys(each, item, keys))) removed.push([...path, index]);
  });
  return config.length ? config : undefined;
}

/** @param {any[]} before @param {any[]} after @param {Path} path @param {Path[]} removed */
function setDifference(before, after, path, removed) {
  before.forEach((each, index) => {
    if (!after.some((item) => same(item, each))) removed.push([...path, index]);
  });
  const added = after.filter((item) => !before.some((each) => same(item, each)));
  return added.length ? added : undefined;
}

/**
 * Return the keys of a list of objects, or null if it is replaced as a whole.
 * @param {Schema} schema
 * @returns {string[] | null}
 */
export function listKeys(schema) {
  const node = schema?.node;
  return node?.["x-kubernetes-list-type"] === "map" ? /** @type {string[]} */ (node["x-kubernetes-list-map-keys"] ?? null) : null;
}

/** @param {any[]} list @param {string[]} keys */
function hasKeys(list, keys) {
  return list.every((item) => isObject(item) && Object.hasOwn(item, keys[0]));
}

/** @param {any} a @param {any} b @param {string[]} keys */
export function sameKeys(a, b, keys) {
  return keys.every((key) => same(a?.[key], b?.[key]));
}

/** @param {any} item @param {string[]} keys */
function keysOf(item, keys) {
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]));
}

/** @param {unknown} value */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Return whether two values are equal; the order of keys does not matter.
 * @param {any} a
 * @param {any} b
 * @returns {boolean}
 */
export function same(a, b) {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((each, i) => same(each, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]));
}
