/** Actions on several objects: the request for each, its dry run, and the run with what failed. */
import { actionsOf } from "../actions/actions.js";
import { apiPath } from "../discovery/kinds.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";

const AT_ONCE = 6;
const MERGE = "application/merge-patch+json";
const OF_KINDS = new Set(["scale", "restart", "evict"]);
/** A change of metadata as kubectl writes it: `key=value` sets, `key-` removes. */
const CHANGE = /^([A-Za-z0-9](?:[-A-Za-z0-9._/]*[A-Za-z0-9])?)(?:=(.*)|-)$/s;

/**
 * @typedef {import("../discovery/kinds.js").Kind} Kind
 * @typedef {import("../table/store.js").Row} Row
 * @typedef {{ replicas: number, text: string }} Input
 * @typedef {{ row: Row, state: "waiting" | "possible" | "refused" | "done" | "failed", error: unknown }} Step
 * `error`: why the server refuses it.
 */

/** Return the title of an action. @param {string} id */
export function titleOf(id) {
  return t(id === "label" ? "bulk.label_objects" : `bulk.${id}`);
}

/** @param {Kind} kind @param {Row} row */
function actions(kind, { metadata }) {
  return actionsOf(kind, { metadata }).filter((each) => OF_KINDS.has(each.id));
}

/**
 * Return the actions that objects of a kind have together.
 * @param {Kind} kind
 * @param {Row} row one of the objects
 */
export function bulkActions(kind, row) {
  const { metadata: { namespace = "", name } } = row;
  const right = (/** @type {string} */ verb) => ({ kind, namespace, name, verb });
  return [
    ...actions(kind, row).map(({ id, icon, right }) => ({ id, icon, right, danger: id === "evict" })),
    ...(kind.verbs.includes("patch") ? [{ id: "label", icon: "edit", right: right("patch"), danger: false }, { id: "annotate", icon: "edit", right: right("patch"), danger: false }] : []),
    ...(kind.verbs.includes("delete") ? [{ id: "delete", icon: "trash", right: right("delete"), danger: true }] : []),
  ];
}

/**
 * Return the request of an action on one object; null if the input is not complete.
 * @param {Kind} kind
 * @param {string} id
 * @param {Row} row
 * @param {Input} input
 * @returns {import("../actions/actions.js").Write | null}
 */
export function writeOf(kind, id, row, { replicas, text }) {
  const { namespace = "", name, uid } = row.metadata;
  const path = apiPath(kind, kind.namespaced ? namespace : "", name);
  if (id === "delete") {
    return { method: "DELETE", path, body: { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Background", preconditions: { uid } } };
  }
  if (id === "label" || id === "annotate") {
    const change = CHANGE.exec(text.trim());
    if (!change) return null;
    // The uid keeps the change from an object that has taken the name since.
    return { method: "PATCH", path, type: MERGE, body: { metadata: { uid, [`${id === "label" ? "labels" : "annotations"}`]: Object.fromEntries([[change[1], change[2] ?? null]]) } } };
  }
  return actions(kind, row).find((each) => each.id === id)?.write({ replicas }) ?? null;
}

/**
 * Send the requests of all steps in `from`, some at a time. A dry run changes nothing.
 * @param {Kind} kind
 * @param {string} id
 * @param {Step[]} steps
 * @param {Input} input
 * @param {{ dry: boolean, signal: AbortSignal, onStep: (step: Step) => void }} how
 */
export async function runSteps(kind, id, steps, input, { dry, signal, onStep }) {
  const waiting = [...steps];
  const work = async () => {
    for (let step = waiting.shift(); step && !signal.aborted; step = waiting.shift()) {
      const next = await attempt(kind, id, step, input, dry, signal);
      if (!signal.aborted || !dry) onStep(next);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/**
 * @param {Kind} kind
 * @param {string} id
 * @param {Step} step
 * @param {Input} input
 * @param {boolean} dry
 * @param {AbortSignal} signal
 * @returns {Promise<Step>}
 */
async function attempt(kind, id, step, input, dry, signal) {
  const write = writeOf(kind, id, step.row, input);
  if (!write) return step;
  const { method, path, body, type } = write;
  try {
    // A server reads the options of a deletion from its body alone.
    const deletion = method === "DELETE";
    const parameters = deletion ? "" : `?fieldManager=sampan-dashboard${dry ? "&dryRun=All" : ""}`;
    const sent = deletion && dry ? { .../** @type {object} */ (body), dryRun: ["All"] } : body;
    await session.transport.json(`${path}${parameters}`, { method, body: sent, type, signal: dry ? signal : undefined });
    return { ...step, state: dry ? "possible" : "done", error: null };
  } catch (error) {
    return { ...step, state: dry ? "refused" : "failed", error };
  }
}
