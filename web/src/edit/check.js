/**
 * Checks of a manifest by dry runs. A server stops at the first stage that refuses: decoding, types, rules, webhooks. So the
 * faulty fields are put back to what is stored, and the rest is checked again, until the server accepts it.
 */
import { apiPath } from "../discovery/kinds.js";
import { session } from "../session/session.js";
import { StatusError } from "../transport/errors.js";
import { follow, valueAt } from "./field_paths.js";
import { mergePatchOf } from "./patches.js";
import { problemsOf, warningOf } from "./problems.js";
import { withoutServerFields } from "./server_fields.js";

const ROUNDS_MAX = 6;
export const MANAGER = "sampan-dashboard";

/**
 * @typedef {{ kind: import("../discovery/kinds.js").Kind, namespace: string, name: string }} Target
 * `name` is empty for an object that is to be created.
 */

/**
 * Return the problems of a manifest. Raises `ConnectionLost`.
 * @param {Target} target
 * @param {any} manifest
 * @param {any} stored what replaces faulty fields; null for a new object
 * @param {AbortSignal} signal
 * @returns {Promise<import("./problems.js").Problem[]>}
 */
export async function check(target, manifest, stored, signal) {
  /** @type {import("./problems.js").Problem[]} */
  const problems = [];
  /** @type {Set<string>} */
  let warnings = new Set();
  let sent = structuredClone(withoutServerFields(manifest));
  for (let round = 0; round < ROUNDS_MAX && !signal.aborted; round++) {
    warnings = new Set();
    try {
      await dryRun(target, sent, stored, signal, (texts) => texts.forEach((text) => warnings.add(text)));
      break;
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const found = problemsOf(error).filter((each) => !problems.some((known) => known.message === each.message));
      problems.push(...found);
      const repaired = found.map((each) => restore(sent, each, stored));
      if (!repaired.some(Boolean)) break;
    }
  }
  return [...problems, ...[...warnings].map(warningOf)];
}

/**
 * Send a manifest as a dry run.
 * @param {Target} target
 * @param {any} manifest
 * @param {any} stored
 * @param {AbortSignal} signal
 * @param {(texts: string[]) => void} onWarnings
 */
async function dryRun({ kind, namespace, name }, manifest, stored, signal, onWarnings) {
  const query = `dryRun=All&fieldValidation=Strict&fieldManager=${MANAGER}`;
  const path = apiPath(kind, namespace, stored ? name : "");
  const versioned = stored ? { ...manifest, metadata: { ...manifest.metadata, resourceVersion: stored.metadata.resourceVersion } } : manifest;
  try {
    await session.transport.json(`${path}?${query}`, { method: stored ? "PUT" : "POST", body: versioned, signal, onWarnings });
  } catch (error) {
    const onlyPatches = stored && error instanceof StatusError && error.code === 403 && / cannot update /.test(error.message);
    if (!onlyPatches) throw error;
    const body = mergePatchOf(withoutServerFields(stored), manifest) ?? {};
    await session.transport.json(`${path}?${query}`, { method: "PATCH", type: "application/merge-patch+json", body, signal, onWarnings });
  }
}

/**
 * Put a faulty field back to what is stored. Return whether the manifest has changed.
 * @param {any} manifest
 * @param {import("./problems.js").Problem} problem
 * @param {any} stored
 */
function restore(manifest, problem, stored) {
  if (!problem.steps?.length) return false;
  const { path } = follow(manifest, problem.steps);
  if (path.length === 0) return false;
  const parent = valueAt(manifest, path.slice(0, -1));
  const last = /** @type {string} */ (path.at(-1));
  const before = valueAt(stored, path);
  const changed = JSON.stringify(parent[last]) !== JSON.stringify(before);
  if (!changed) return false;
  if (before !== undefined) parent[last] = structuredClone(before);
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return true;
}
