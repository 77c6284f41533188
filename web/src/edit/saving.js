/** Requests that save an edit: a server-side apply of what has changed, after a JSON patch of what was removed. */
import { apiPath } from "../discovery/kinds.js";
import { session } from "../session/session.js";
import { StatusError } from "../transport/errors.js";
import { MANAGER } from "./check.js";
import { follow, parsePath, valueAt } from "./field_paths.js";

const APPLY = "application/apply-patch+yaml";
const JSON_PATCH = "application/json-patch+json";

/**
 * @typedef {{ field: string, message: string, manager: string }} Conflict
 * @typedef {{ name: string, detail?: string, tookMicroseconds?: number, changes?: { op: string, path: string, value?: unknown }[],
 *   webhooks?: { webhook: string, patch: { op: string, path: string }[] }[] }} Step
 * @typedef {{ object: any, earlier: any, steps: Step[] | null, conflicts: Conflict[], refused: any, warnings: string[] }} Preview
 * `object` is null until conflicts are decided. `earlier`: what the request before the last one would store. `steps` are those of the traces; null if the user may not trace requests, or the server has no traces.
 * @typedef {{ method: string, type?: string, body: unknown, query: string, path: string }} Write
 */

/**
 * Return the requests of a save.
 * @param {import("./check.js").Target} target
 * @param {import("./apply_config.js").Save} save
 * @param {boolean} force take over fields of other managers
 * @returns {Write[]}
 */
export function applyWrites({ kind, namespace, name }, save, force) {
  const path = apiPath(kind, namespace, name);
  const shared = `fieldManager=${MANAGER}&fieldValidation=Strict`;
  return [
    ...(save.removals.length ? [{ method: "PATCH", type: JSON_PATCH, body: save.removals, query: shared, path }] : []),
    ...(save.applies ? [{ method: "PATCH", type: APPLY, body: save.config, query: force ? `${shared}&force=true` : shared, path }] : []),
  ];
}

/**
 * Return what requests would store. The last one decides; each is a dry run by itself.
 * @param {Write[]} writes
 * @param {AbortSignal} [signal]
 * @returns {Promise<Preview>}
 */
export async function preview(writes, signal) {
  /** @type {Preview} */
  const result = { object: null, earlier: null, steps: null, conflicts: [], refused: null, warnings: [] };
  const onWarnings = (/** @type {string[]} */ texts) => result.warnings.push(...texts);
  try {
    for (const write of writes) {
      const { object, steps } = await traced(write, { signal, onWarnings });
      Object.assign(result, { object, earlier: result.object, steps: steps && [...(result.steps ?? []), ...steps] });
    }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    result.conflicts = conflictsOf(error);
    result.refused = result.conflicts.length ? null : error;
    result.object = null;
  }
  return result;
}

/**
 * Send a write as a dry run, with a trace if that is possible.
 * @param {Write} write
 * @param {{ signal?: AbortSignal, onWarnings: (texts: string[]) => void }} options
 * @returns {Promise<{ object: any, steps: Step[] | null }>}
 */
async function traced({ method, type, body, query, path }, options) {
  const address = `${path}?dryRun=All&${query}`;
  try {
    const found = await session.transport.json(`${address}&${encodeURIComponent("sampan.dev/trace")}=true`, { method, type, body, ...options });
    if (found.kind !== "RequestTrace") return { object: found, steps: null };
    if (found.status) throw new StatusError(found.code, found.status);
    return { object: found.object, steps: found.steps };
  } catch (error) {
    const forbidden = error instanceof StatusError && error.code === 403 && / cannot trace /.test(error.message);
    if (!forbidden) throw error;
    return { object: await session.transport.json(address, { method, type, body, ...options }), steps: null };
  }
}

/**
 * Send the requests. Return the stored object.
 * @param {Write[]} writes
 */
export async function send(writes) {
  let object = null;
  for (const { method, type, body, query, path } of writes) object = await session.transport.json(`${path}?${query}`, { method, type, body });
  return object;
}

/**
 * Return the fields that other managers own.
 * @param {StatusError} error
 * @returns {Conflict[]}
 */
function conflictsOf({ code, status }) {
  if (code !== 409) return [];
  return (status.details?.causes ?? [])
    .filter((cause) => cause.reason === "FieldManagerConflict")
    .map(({ field = "", message = "" }) => ({ field, message, manager: /^conflict with "((?:[^"\\]|\\.)*)"/.exec(message)?.[1] ?? message }));
}

/**
 * Return a save without fields that stay with their managers.
 * @param {import("./apply_config.js").Save} save
 * @param {string[]} fields
 * @returns {import("./apply_config.js").Save}
 */
export function leaving(save, fields) {
  if (fields.length === 0) return save;
  const config = structuredClone(save.config);
  for (const field of fields) {
    const { path, whole } = follow(config, parsePath(field));
    if (!whole || path.length === 0) continue;
    const parent = valueAt(config, path.slice(0, -1));
    const last = /** @type {any} */ (path.at(-1));
    if (Array.isArray(parent)) parent.splice(last, 1);
    else delete parent[last];
  }
  return { ...save, config };
}
