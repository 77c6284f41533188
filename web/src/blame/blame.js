/** Owners of every field of an object, from its managed fields: maps, lists with keys, sets, and what is owned as a whole. */
import { isObject } from "../edit/changes.js";
import { pointerOf } from "../edit/field_paths.js";

/**
 * @typedef {import("../edit/field_paths.js").Path} Path
 * @typedef {{ id: string, manager: string, operation: string, subresource: string, time: string, fields: number }} Manager
 * `fields`: number of fields that it owns.
 * @typedef {{ managers: Manager[], owners: Map<string, Manager[]> }} Blame
 * `owners`: of fields by JSON pointer, the latest first. What is below such a field belongs to the same owners.
 */

const DEPTH_MAX = 60;

/**
 * Return the owners of all fields.
 * @param {any} object
 * @returns {Blame}
 */
export function blameOf(object) {
  /** @type {Map<string, Manager[]>} */
  const owners = new Map();
  const managers = (object?.metadata?.managedFields ?? []).map((/** @type {any} */ entry) => {
    const { manager = "", operation = "", subresource = "", time = "" } = entry;
    const found = { id: [manager, operation, subresource].join(" ").trim(), manager, operation, subresource, time, fields: 0 };
    walk(entry.fieldsV1, object, [], (path) => {
      found.fields++;
      const pointer = pointerOf(path);
      owners.set(pointer, [...(owners.get(pointer) ?? []), found]);
    });
    return found;
  });
  for (const each of owners.values()) each.sort(byTime);
  return { managers: managers.sort(byTime), owners };
}

/** @param {Manager} a @param {Manager} b */
function byTime(a, b) {
  return b.time.localeCompare(a.time);
}

/**
 * @param {any} fields
 * @param {any} value
 * @param {Path} path
 * @param {(path: Path) => void} found called for each field that is owned as a whole
 */
function walk(fields, value, path, found) {
  if (!isObject(fields) || path.length > DEPTH_MAX) return;
  const places = Array.isArray(value) ? placesOf(fields, value) : null;
  for (const name of Object.keys(fields)) {
    if (name === ".") continue;
    const key = places ? places.get(name) : name.startsWith("f:") ? name.slice(2) : undefined;
    if (key === undefined || !isIn(value, key)) continue;
    const inner = [...path, key];
    if (isObject(fields[name]) && Object.keys(fields[name]).some((each) => each !== ".")) walk(fields[name], value[key], inner, found);
    else if (!isContainer(value[key]) || !fields[name]["."]) found(inner);
  }
}

/** @param {any} value @param {string | number} key */
function isIn(value, key) {
  return value !== null && typeof value === "object" && Object.hasOwn(value, key);
}

/** @param {any} value */
function isContainer(value) {
  return value !== null && typeof value === "object" && Object.keys(value).length > 0;
}

/**
 * Return the indexes of items by their names in a set of fields: `k:{"name":"web"}`, `v:"text"`, `i:0`.
 * @param {any} fields
 * @param {any[]} list
 * @returns {Map<string, number>}
 */
function placesOf(fields, list) {
  /** @type {Map<string, number>} */
  const places = new Map();
  /** Indexes by the values of some keys. @type {Map<string, Map<string, number>>} */
  const indexes = new Map();
  for (const name of Object.keys(fields)) {
    const wanted = decoded(name.slice(2));
    if (name.startsWith("i:")) places.set(name, Number(name.slice(2)));
    if (!/^[kv]:/.test(name) || wanted === undefined) continue;
    const keys = name.startsWith("k:") && isObject(wanted) ? Object.keys(wanted).sort() : [];
    const by = keys.join();
    if (!indexes.has(by)) indexes.set(by, new Map(list.map((item, i) => [textOf(item, keys), i])));
    const place = indexes.get(by)?.get(textOf(wanted, keys));
    if (place !== undefined) places.set(name, place);
  }
  return places;
}

/** @param {any} item @param {string[]} keys none: the item itself */
function textOf(item, keys) {
  return JSON.stringify(keys.length ? keys.map((key) => item?.[key]) : item);
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
 * Return the owners of a field; none if the server itself wrote it, or only parts of it have owners.
 * @param {Blame} blame
 * @param {Path} path
 * @returns {Manager[]}
 */
export function ownersAt({ owners }, path) {
  for (let length = path.length; length > 0; length--) {
    const found = owners.get(pointerOf(path.slice(0, length)));
    if (found) return found;
  }
  return [];
}
