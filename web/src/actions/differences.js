/** Fields that differ between two objects, as a short list. */
import { isObject, same } from "../edit/changes.js";
import { pathText } from "../edit/field_paths.js";
import { withoutServerFields } from "../edit/server_fields.js";

const SHOWN_MAX = 20;

/**
 * @typedef {{ path: string, before: unknown, after: unknown }} Difference
 */

/**
 * Return the fields that an action changes.
 * @param {any} before
 * @param {any} after
 * @returns {Difference[]}
 */
export function differencesOf(before, after) {
  /** @type {Difference[]} */
  const found = [];
  walk(withoutServerFields(before), withoutServerFields(after), [], found);
  return found.slice(0, SHOWN_MAX);
}

/** @param {any} before @param {any} after @param {import("../edit/field_paths.js").Path} path @param {Difference[]} found */
function walk(before, after, path, found) {
  if (same(before, after) || found.length >= SHOWN_MAX) return;
  if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) walk(own(before, name), own(after, name), [...path, name], found);
  } else if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    before.forEach((item, i) => walk(item, after[i], [...path, i], found));
  } else {
    found.push({ path: pathText(path), before, after });
  }
}

/** @param {any} object @param {string} name */
function own(object, name) {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
