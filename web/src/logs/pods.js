/** The Pods of an object: itself, those that a selector selects, or those that it owns at any depth. */
import { apiPath } from "../discovery/kinds.js";
import { ObjectStore } from "../details/object_store.js";
import { session } from "../session/session.js";
import { Reflector } from "../table/reflector.js";

export const PODS = { group: "", version: "v1", plural: "pods" };
const SELECTING = new Set(["deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch", "replicationcontrollers.", "services."]);

/** @typedef {{ group: string, plural: string }} KindId */

/** @param {KindId} kind */
export function isPod({ group, plural }) {
  return group === "" && plural === "pods";
}

/**
 * Return the selector of an object's Pods as a parameter; empty if it has none.
 * @param {KindId} kind
 * @param {any} object
 */
export function selectorOf({ group, plural }, object) {
  if (!SELECTING.has(`${plural}.${group}`)) return "";
  const given = object.spec?.selector ?? {};
  const simple = group === "";
  const labels = Object.entries((simple ? given : given.matchLabels) ?? {}).map(([name, value]) => `${name}=${value}`);
  return [...labels, ...(simple ? [] : (given.matchExpressions ?? []).map(expression))].join(",");
}

/** @param {{ key: string, operator: string, values?: string[] }} requirement */
function expression({ key, operator, values }) {
  if (operator === "Exists") return key;
  if (operator === "DoesNotExist") return `!${key}`;
  return `${key} ${operator === "In" ? "in" : "notin"} (${(values ?? []).join(",")})`;
}

/**
 * Return whether an object has logs of Pods.
 * @param {KindId} kind
 * @param {any} object
 * @param {import("../details/related.js").Related} related
 */
export function hasLogs(kind, object, related) {
  if (isPod(kind)) return true;
  if (selectorOf(kind, object)) return true;
  if (kind.plural === "cronjobs" && kind.group === "batch") return true;
  return related.owned.value.some((each) => isPod(each.kind));
}

/**
 * Follow the Pods of an object until the signal aborts. Pods that are deleted move to `deleted` of the store.
 * @param {KindId} kind
 * @param {any} object
 * @param {import("../details/related.js").Related} related
 * @param {{ store: ObjectStore, stop: AbortSignal, onRefused: (error: any) => void }} how
 * @returns {() => void} call it when what the object owns has changed
 */
export function followPods(kind, object, related, { store, stop, onRefused }) {
  const { namespace, name } = object.metadata;
  const shared = { transport: session.transport, connection: session.connection, accept: "application/json", store, onRefused };
  const selector = selectorOf(kind, object);
  /** @type {Map<string, string>} */
  const read = new Map();
  if (!isPod(kind) && !selector) return () => readOwned(namespace, related, { store, stop, read });
  /** @type {Record<string, string>} */
  const selectors = isPod(kind) ? { fieldSelector: `metadata.name=${name}` } : { labelSelector: selector };
  new Reflector({ ...shared, path: apiPath(PODS, namespace), selectors }).run(stop).catch(() => {});
  return () => {};
}

/** Pods of which the containers are read, at most. */
const OWNED_MAX = 50;

/**
 * Read the owned Pods of which a new state exists.
 * @param {string} namespace
 * @param {import("../details/related.js").Related} related
 * @param {{ store: ObjectStore, stop: AbortSignal, read: Map<string, string> }} how `read`: the states that were requested, by uid
 */
function readOwned(namespace, related, { store, stop, read }) {
  const rows = related.owned.value.filter((each) => isPod(each.kind)).slice(0, OWNED_MAX).map((each) => each.row);
  const known = store.objects.peek();
  const uids = new Set(rows.map((row) => row.uid));
  const gone = [...known.values()].filter((pod) => !uids.has(pod.metadata.uid));
  if (gone.length) store.enqueue("", gone.map((object) => ({ type: "DELETED", object })));
  for (const row of rows) {
    if (read.get(row.uid) === row.metadata.resourceVersion) continue;
    read.set(row.uid, row.metadata.resourceVersion ?? "");
    session.transport.json(`${apiPath(PODS, namespace)}/${encodeURIComponent(row.metadata.name)}`, { signal: stop }).then(
      (object) => store.enqueue("", [{ type: "MODIFIED", object }]),
      () => {},
    );
  }
}
