/** Three-way merge: what the user changed and what was stored meanwhile. Where both changed a field, the user's value stays. */
import { isObject, same } from "./changes.js";

/**
 * Return the merged value, and add the paths that both changed.
 * @param {any} base
 * @param {any} yours
 * @param {any} stored
 * @param {import("./field_paths.js").Path[]} both
 * @param {import("./field_paths.js").Path} [path]
 * @returns {any}
 */
export function mergeThree(base, yours, stored, both, path = []) {
  if (same(yours, base) || same(yours, stored)) return stored;
  if (same(stored, base)) return yours;
  if (!isObject(yours) || !isObject(stored)) {
    both.push(path);
    return yours;
  }
  const merged = Object.create(null);
  const from = isObject(base) ? base : {};
  for (const name of new Set([...Object.keys(stored), ...Object.keys(yours)])) {
    const [a, b, c] = [from, yours, stored].map((each) => (Object.hasOwn(each, name) ? each[name] : undefined));
    const value = mergeThree(a, b, c, both, [...path, name]);
    if (value !== undefined) merged[name] = value;
  }
  return merged;
}
