/** Plans of a save: the requests for each way of saving. */
import { apiPath } from "../discovery/kinds.js";
import { saveOf, located } from "./apply_config.js";
import { MANAGER } from "./check.js";
import { valueAt } from "./field_paths.js";
import { jsonPatchOf, mergePatchOf } from "./patches.js";
import { applyWrites, leaving } from "./saving.js";
import { withoutServerFields } from "./server_fields.js";

/**
 * @typedef {{ writes: import("./saving.js").Write[], finished: (object: any, earlier: any) => any }} Plan
 * `finished` completes the object of a preview with what the request before changes; `earlier` is what that would store.
 */

/**
 * Return how an edit is saved.
 * @param {{ way: string, edit: import("./review.js").Edited, schema: import("./changes.js").Schema, yours: any,
 *   conflicts: import("./saving.js").Conflict[], choices: Record<string, "take" | "leave"> }} of
 * @returns {Plan}
 */
export function planOf({ way, edit, schema, yours, conflicts, choices }) {
  const base = edit.base.peek();
  const stored = edit.stored.peek();
  const { kind, namespace, name } = edit.target;
  const shared = `fieldManager=${MANAGER}&fieldValidation=Strict`;
  const path = apiPath(kind, namespace, name);
  const write = (/** @type {string} */ method, /** @type {unknown} */ body, /** @type {string} */ type = "application/json") => ({
    writes: [{ method, body, type, query: shared, path }],
    finished: (/** @type {any} */ object) => object,
  });
  const before = withoutServerFields(base);
  const after = withoutServerFields(yours);
  if (way === "replace") return write("PUT", { ...after, metadata: { ...after.metadata, resourceVersion: base.metadata.resourceVersion } });
  if (way === "merge") return write("PATCH", mergePatchOf(before, after) ?? {}, "application/merge-patch+json");
  if (way === "json") return write("PATCH", jsonPatchOf(before, after), "application/json-patch+json");
  const whole = saveOf(base, yours, stored, schema);
  const chosen = conflicts.length > 0 && conflicts.every(({ field }) => choices[field]);
  const left = chosen ? conflicts.map(({ field }) => field).filter((field) => choices[field] === "leave") : [];
  return { writes: applyWrites(edit.target, leaving(whole, left), chosen), finished: (object, earlier) => (whole.applies ? withoutRemoved(object, whole.removed, base, earlier) : object) };
}

/**
 * Return an object without the fields that a patch removes before. Those that a webhook adds again stay.
 * @param {any} object
 * @param {import("./field_paths.js").Path[]} removed
 * @param {any} base
 * @param {any} earlier what the patch would store
 */
function withoutRemoved(object, removed, base, earlier) {
  if (removed.length === 0) return object;
  const copy = structuredClone(object);
  for (const path of removed) {
    if (located(path, base, earlier).length) continue;
    for (const found of located(path, base, copy)) {
      const parent = valueAt(copy, found.slice(0, -1));
      const last = /** @type {any} */ (found.at(-1));
      if (Array.isArray(parent)) parent.splice(last, 1);
      else delete parent[last];
    }
  }
  return copy;
}
