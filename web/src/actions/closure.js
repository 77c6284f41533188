/**
 * What a deletion takes with it: the objects that the garbage collector removes after their owners, the content of a
 * namespace, or the objects of a CRD. The number of objects that are read is bounded.
 */
import { apiPath } from "../discovery/kinds.js";
import { session } from "../session/session.js";
import { StatusError } from "../transport/errors.js";

const METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const PAGE = 1000;
const OBJECTS_MAX = 20_000;
const AT_ONCE = 4;

/**
 * @typedef {import("../discovery/kinds.js").Kind} Kind
 * @typedef {{ kind: Kind, metadata: import("../table/store.js").Metadata }} Member
 * @typedef {{ members: Member[], unread: Kind[], cut: boolean }} Closure
 * `unread`: kinds that the user may not list. `cut`: there are more objects than were read.
 */

/**
 * Return what is deleted with an object.
 * @param {Kind} kind
 * @param {any} object
 * @param {AbortSignal} signal
 * @returns {Promise<Closure>}
 */
export async function closureOf(kind, object, signal) {
  const { uid, name, namespace = "" } = object.metadata;
  const all = session.discovery.kinds.peek().filter((each) => each.verbs.includes("delete"));
  if (kind.plural === "namespaces" && kind.group === "") {
    return read(all.filter((each) => each.namespaced), name, signal);
  }
  if (kind.plural === "customresourcedefinitions") {
    return read(all.filter((each) => each.group === object.spec?.group && each.plural === object.spec?.names?.plural), "", signal);
  }
  const found = await read(namespace ? all.filter((each) => each.namespaced) : all, namespace, signal);
  return { ...found, members: dependents(found.members, uid) };
}

/**
 * Return the objects that have no other owner than the deleted ones.
 * @param {Member[]} objects
 * @param {string} root
 * @returns {Member[]}
 */
export function dependents(objects, root) {
  const present = new Set(objects.map(({ metadata }) => metadata.uid));
  const gone = new Set([root]);
  /** @type {Member[]} */
  const members = [];
  for (let grew = true; grew; ) {
    grew = false;
    for (const each of objects) {
      const owners = each.metadata.ownerReferences ?? [];
      const owned = owners.some((owner) => gone.has(owner.uid));
      if (!owned || gone.has(each.metadata.uid) || owners.some((owner) => present.has(owner.uid) && !gone.has(owner.uid))) continue;
      gone.add(each.metadata.uid);
      members.push(each);
      grew = true;
    }
  }
  return members;
}

/** @param {Kind[]} kinds @param {string} namespace @param {AbortSignal} signal @returns {Promise<Closure>} */
async function read(kinds, namespace, signal) {
  /** @type {Closure} */
  const found = { members: [], unread: [], cut: false };
  const waiting = [...kinds];
  const work = async () => {
    for (let kind = waiting.shift(); kind && !signal.aborted; kind = waiting.shift()) await readKind(kind, namespace, found, signal);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

/** @param {Kind} kind @param {string} namespace @param {Closure} found @param {AbortSignal} signal */
async function readKind(kind, namespace, found, signal) {
  const path = apiPath(kind, kind.namespaced ? namespace : "");
  try {
    for (let from = ""; ; ) {
      if (found.members.length >= OBJECTS_MAX) {
        found.cut = true;
        return;
      }
      const list = await session.transport.json(`${path}?limit=${PAGE}${from && `&continue=${encodeURIComponent(from)}`}`, { accept: METADATA, signal });
      for (const { metadata } of list.items ?? []) found.members.push({ kind, metadata });
      from = list.metadata?.continue ?? "";
      if (!from) return;
    }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    if (error.code === 403) found.unread.push(kind);
  }
}
