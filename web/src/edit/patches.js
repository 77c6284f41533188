/** Patches between two objects: JSON merge patch (RFC 7386) and JSON patch (RFC 6902). */
import { isObject, same } from "./changes.js";
import { pointerOf } from "./field_paths.js";

/**
 * Return the merge patch; undefined if the objects are equal.
 * @param {any} before
 * @param {any} after
 * @returns {any}
 */
export function mergePatchOf(before, after) {
  if (same(before, after)) return undefined;
  if (!isObject(before) || !isObject(after)) return after;
  const patch = Object.create(null);
  for (const name of Object.keys(after)) {
    const inner = Object.hasOwn(before, name) ? mergePatchOf(before[name], after[name]) : after[name];
    if (inner !== undefined) patch[name] = inner;
  }
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) patch[name] = null;
  return patch;
}

/**
 * Return the JSON patch. Each operation tests the value that it replaces, so that it cannot undo the change of another client.
 * @param {any} before
 * @param {any} after
 * @param {import("./field_paths.js").Path} [path]
 * @returns {{ op: string, path: string, value?: unknown }[]}
 */
export function jsonPatchOf(before, after, path = []) {
  if (same(before, after)) return [];
  const test = { op: "test", path: pointerOf(path), value: before };
  if (!isObject(before) || !isObject(after)) return [test, { op: "replace", path: pointerOf(path), value: after }];
  return [
    ...Object.keys(before).flatMap((name) => {
      const inner = [...path, name];
      if (Object.hasOwn(after, name)) return jsonPatchOf(before[name], after[name], inner);
      return [{ op: "test", path: pointerOf(inner), value: before[name] }, { op: "remove", path: pointerOf(inner) }];
    }),
    ...Object.keys(after).filter((name) => !Object.hasOwn(before, name)).map((name) => ({ op: "add", path: pointerOf([...path, name]), value: after[name] })),
  ];
}
