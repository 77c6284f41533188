/**
 * Manifest of a server-side apply that changes what the user has changed, and nothing else. It repeats what the page has
 * applied before, because a server removes what a manager no longer applies.
 */
import { childSchema } from "../schema/schema.js";
import { changesOf, isObject, listKeys, same, sameKeys } from "./changes.js";
import { appliedBy } from "./field_owners.js";
import { MANAGER } from "./check.js";
import { pointerOf, valueAt } from "./field_paths.js";
import { withoutServerFields } from "./server_fields.js";

/**
 * @typedef {import("./changes.js").Schema} Schema
 * @typedef {{ path: string, op: "test" | "remove", value?: unknown }} Operation
 * @typedef {{ config: any, removals: Operation[], applies: boolean, removed: import("./field_paths.js").Path[] }} Save
 * `applies`: fields were set, so that an apply is necessary. `removed` are paths in the base. `removals` are a JSON patch of the stored object: a server-side apply only removes fields of its own manager.
 */

/**
 * Return how to save an edit.
 * @param {any} base the object when the edit began
 * @param {any} yours the edited object
 * @param {any} stored the object that the server has now
 * @param {Schema} schema
 * @returns {Save}
 */
export function saveOf(base, yours, stored, schema) {
  const { config, removed } = changesOf(withoutServerFields(base), withoutServerFields(yours), schema);
  const owned = appliedBy(stored, MANAGER);
  const kept = owned === undefined ? undefined : without(owned, stored, base, removed);
  const merged = merge(kept, config, schema) ?? Object.create(null);
  const identity = Object.assign(Object.create(null), merged.metadata, { name: stored.metadata.name }, stored.metadata.namespace ? { namespace: stored.metadata.namespace } : {});
  return {
    config: Object.assign(Object.create(null), merged, { apiVersion: yours.apiVersion, kind: yours.kind, metadata: identity }),
    removals: removalsOf(removed, base, stored),
    applies: config !== undefined,
    removed,
  };
}

/**
 * Return the operations that remove fields of the stored object. Items are found by their value, because indexes move.
 * @param {import("./field_paths.js").Path[]} removed
 * @param {any} base
 * @param {any} stored
 * @returns {Operation[]}
 */
function removalsOf(removed, base, stored) {
  const paths = removed.flatMap((path) => located(path, base, stored));
  // From the end, so that a removal does not move the items that follow.
  return paths.sort(byPosition).reverse().flatMap((path) => [
    { op: /** @type {const} */ ("test"), path: pointerOf(path), value: valueAt(stored, path) },
    { op: /** @type {const} */ ("remove"), path: pointerOf(path) },
  ]);
}

/**
 * Return the path in the stored object, if it still is there.
 * @param {import("./field_paths.js").Path} path
 * @param {any} base
 * @param {any} stored
 * @returns {import("./field_paths.js").Path[]}
 */
export function located(path, base, stored) {
  /** @type {import("./field_paths.js").Path} */
  const found = [];
  let from = base;
  let to = stored;
  for (const key of path) {
    const place = typeof key === "number" ? indexOf(to, from?.[key]) : key;
    if (place === -1 || to === null || typeof to !== "object" || !Object.hasOwn(to, place)) return [];
    found.push(place);
    from = from?.[key];
    to = to[place];
  }
  return [found];
}

/** @param {any} list @param {any} item */
function indexOf(list, item) {
  if (!Array.isArray(list)) return -1;
  const exact = list.findIndex((each) => same(each, item));
  if (exact >= 0 || !isObject(item)) return exact;
  const key = ["name", "containerPort", "port", "mountPath", "type", "ip", "key"].find((each) => Object.hasOwn(item, each));
  return key ? list.findIndex((each) => same(each?.[key], item[key])) : -1;
}

/** @param {import("./field_paths.js").Path} a @param {import("./field_paths.js").Path} b */
function byPosition(a, b) {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i] === b[i]) continue;
    return typeof a[i] === "number" && typeof b[i] === "number" ? Number(a[i]) - Number(b[i]) : String(a[i]).localeCompare(String(b[i]));
  }
  return a.length - b.length;
}

/**
 * Return what was applied before, without what the user has removed.
 * @param {any} owned
 * @param {any} stored
 * @param {any} base
 * @param {import("./field_paths.js").Path[]} removed
 */
function without(owned, stored, base, removed) {
  const copy = structuredClone(owned);
  for (const path of removed) {
    for (const found of located(path, base, copy)) {
      const parent = valueAt(copy, found.slice(0, -1));
      const last = /** @type {any} */ (found.at(-1));
      if (Array.isArray(parent)) parent.splice(last, 1);
      else delete parent[last];
    }
  }
  return copy;
}

/**
 * Return the union of two manifests; where both have a value, that of the second.
 * @param {any} first
 * @param {any} second
 * @param {Schema} schema
 * @returns {any}
 */
export function merge(first, second, schema) {
  if (second === undefined) return first;
  if (isObject(first) && isObject(second) && schema?.node["x-kubernetes-map-type"] !== "atomic") {
    const merged = Object.create(null);
    for (const name of new Set([...Object.keys(first), ...Object.keys(second)])) {
      merged[name] = Object.hasOwn(second, name) ? merge(Object.hasOwn(first, name) ? first[name] : undefined, second[name], childSchema(schema, name)) : first[name];
    }
    return merged;
  }
  const keys = listKeys(schema);
  if (Array.isArray(first) && Array.isArray(second)) {
    if (keys) {
      const items = second.map((item) => merge(first.find((each) => sameKeys(each, item, keys)), item, childSchema(schema, 0)));
      return [...first.filter((each) => !second.some((item) => sameKeys(each, item, keys))), ...items];
    }
    if (schema?.node["x-kubernetes-list-type"] === "set") return [...first.filter((each) => !second.some((item) => same(item, each))), ...second];
  }
  return second;
}
