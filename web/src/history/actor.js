/** Who made a change: the manager of fields, from two states of `managedFields`, and the user that the server noted. */
import { isObject, same } from "../edit/changes.js";

/**
 * @typedef {{ manager: string, operation: string, subresource: string, user: string }} Actor
 * Empty texts are unknown.
 */

const DOMAIN = "/";

/**
 * Return who changed an object.
 * @param {import("./records.js").Change} record
 * @param {any} before null: the object did not exist
 * @returns {Actor}
 */
export function actorOf({ type, object, user, userAgent, manager }, before) {
  const entry = type === "DELETED" ? null : changedEntry(before?.metadata?.managedFields ?? [], object.metadata?.managedFields ?? []);
  const agent = (userAgent ?? "").split(" ")[0].split(DOMAIN)[0];
  const known = manager || entry?.manager || agent;
  // The server notes the manager of a request; the entry has the rest, if it is the one of this request.
  if (entry?.manager !== known) return { manager: known, operation: "", subresource: "", user: user ?? "" };
  return { manager: known, operation: entry?.operation ?? "", subresource: entry?.subresource ?? "", user: user ?? "" };
}

/**
 * Return the newest entry that differs from the one of the same manager before; null if all are equal.
 * @param {any[]} before
 * @param {any[]} after
 */
function changedEntry(before, after) {
  const known = new Map(before.map((each) => [keyOf(each), each]));
  const changed = after.filter((each) => {
    const old = known.get(keyOf(each));
    if (!old) return true;
    // A manager that only lost fields to another one did not act: its time stays.
    return old.time !== each.time || (!same(old.fieldsV1, each.fieldsV1) && !isPart(each.fieldsV1, old.fieldsV1));
  });
  if (changed.length === 0) return null;
  return changed.reduce((newest, each) => ((each.time ?? "") >= (newest.time ?? "") ? each : newest));
}

/** @param {any} entry */
function keyOf({ manager, operation, subresource = "" }) {
  return JSON.stringify([manager, operation, subresource]);
}

/**
 * Return whether a set of fields is a part of another one.
 * @param {any} part
 * @param {any} whole
 * @returns {boolean}
 */
function isPart(part, whole) {
  if (!isObject(part) || !isObject(whole)) return false;
  return Object.keys(part).every((name) => Object.hasOwn(whole, name) && isPart(part[name], whole[name]));
}
