/** Entries of a time line: events, changes of conditions, and who changed the object. */
import { conditionLevel, conditionsOf } from "./object_health.js";

/**
 * @typedef {{ id: string, at: string, level: "good" | "progress" | "warn" | "bad" | "neutral", reason: string, message: string,
 *   count: number, text: string, values: Record<string, string>, about: any }} Entry
 * `text`: key of a text of the page, for what is not an event.
 */

const ENTRIES_MAX = 500;

/**
 * Return the entries, newest first.
 * @param {any} object
 * @param {any[]} events
 * @returns {Entry[]}
 */
export function timeline(object, events) {
  const entries = [...events.map(eventEntry), ...conditionEntries(object), ...changeEntries(object)];
  return entries.filter((entry) => !Number.isNaN(Date.parse(entry.at))).sort((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, ENTRIES_MAX);
}

/** @param {any} event @returns {Entry} */
function eventEntry(event) {
  return {
    id: event.metadata.uid,
    at: event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? "",
    level: event.type === "Warning" ? "warn" : "neutral",
    reason: event.reason ?? "",
    message: event.message ?? "",
    count: event.series?.count ?? event.count ?? 1,
    text: "",
    values: {},
    about: event.involvedObject ?? null,
  };
}

/** @param {any} object @returns {Entry[]} */
function conditionEntries(object) {
  return conditionsOf(object).map((condition) => ({
    id: `condition ${condition.type}`,
    at: condition.lastTransitionTime ?? "",
    level: conditionLevel(condition),
    reason: "",
    message: [condition.reason, condition.message].filter(Boolean).join(": "),
    count: 1,
    text: "events.condition",
    values: { type: condition.type, status: condition.status },
    about: null,
  }));
}

/** @param {any} object @returns {Entry[]} */
function changeEntries(object) {
  const { managedFields = [], creationTimestamp } = object.metadata;
  const plain = { level: /** @type {const} */ ("neutral"), reason: "", message: "", count: 1, about: null };
  const changes = managedFields
    .filter((/** @type {any} */ each) => !each.subresource && each.time && each.time !== creationTimestamp)
    .map((/** @type {any} */ each) => ({ ...plain, id: `change ${each.manager} ${each.operation} ${each.time}`, at: each.time, text: "events.changed", values: { manager: each.manager } }));
  return [...changes, { ...plain, id: "created", at: creationTimestamp ?? "", text: "events.created", values: {} }];
}
