/** Reconciles of one object, for its tab: read once to decide whether there is a tab. */
import { signal } from "@preact/signals";
import { findReporters, readReport } from "./reporters.js";

const KEPT_MAX = 100;

/** @type {import("@preact/signals").Signal<Map<string, "looking" | "none" | "some" | "pausable">>} */
const known = signal(new Map());

/**
 * Return the query for the reconciles of an object.
 * @param {{ group: string, plural: string }} kind
 * @param {any} object
 * @returns {Record<string, string>}
 */
export function reconcilesQuery({ group, plural }, object) {
  const { namespace = "", name } = object.metadata;
  return { resource: group ? `${plural}.${group}` : plural, object: namespace ? `${namespace}/${name}` : name };
}

/**
 * Return whether any known controller has records of an object. The first call begins to look.
 * @param {{ group: string, plural: string }} kind
 * @param {any} object
 */
export function hasReconciles(kind, object) {
  return ["some", "pausable"].includes(stateOf(kind, object) ?? "");
}

/**
 * Return whether a known controller lets users pause an object.
 * @param {{ group: string, plural: string }} kind
 * @param {any} object
 */
export function isPausable(kind, object) {
  return stateOf(kind, object) === "pausable";
}

/** @param {{ group: string, plural: string }} kind @param {any} object */
function stateOf(kind, object) {
  const query = reconcilesQuery(kind, object);
  const key = JSON.stringify(query);
  const state = known.value.get(key);
  if (state === undefined) queueMicrotask(() => look(key, query));
  return state;
}

/**
 * @param {string} key
 * @param {Record<string, string>} query
 */
async function look(key, query) {
  if (known.peek().has(key)) return;
  if (known.peek().size >= KEPT_MAX) known.value = new Map();
  known.peek().set(key, "looking");
  /** @type {"none" | "some" | "pausable"} */
  let found = "none";
  try {
    const { reporters } = await findReporters();
    const reports = await Promise.allSettled(reporters.filter((each) => !each.hidden).map((each) => readReport(each, query)));
    const read = reports.flatMap((each) => (each.status === "fulfilled" && each.value ? [each.value.report] : []));
    if (read.some(hasRecords)) found = read.some((each) => pausableIn(each).length) ? "pausable" : "some";
  } catch {
    found = "none";
  }
  known.value = new Map([...known.peek(), [key, found]]);
  // A controller may act later: look again when the object is shown again.
  if (found === "none") setTimeout(() => known.peek().delete(key), 10_000);
}

/** @param {any} report @returns {any[]} */
export function pausableIn(report) {
  return (report?.reconciled ?? []).filter((/** @type {any} */ each) => each.pausable);
}

/** @param {any} report */
export function hasRecords(report) {
  return Boolean(report?.reconciled?.length || report?.written?.length);
}
