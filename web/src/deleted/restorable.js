/** Manifest that creates a deleted object again: its last state without what the server and the garbage collector wrote. */
import { LAST_APPLIED } from "../details/secret.js";
import { withoutServerFields } from "../edit/server_fields.js";

/**
 * @typedef {{ manifest: any, notes: string[] }} Restorable
 * `notes`: keys of texts about what was left out.
 */

/** Labels and annotations that controllers write for one life of an object. */
const OF_ONE_LIFE = /^(pv\.kubernetes\.io\/|volume\.kubernetes\.io\/selected-node$|(batch\.kubernetes\.io\/)?controller-uid$|kubectl\.kubernetes\.io\/restartedAt$)/;

/**
 * Return what creates an object again.
 * @param {any} object last state
 * @param {Set<string>} gone uids of owners that no longer exist
 * @returns {Restorable}
 */
export function restorable(object, gone) {
  const copy = structuredClone(withoutServerFields(object));
  /** @type {string[]} */
  const notes = [];
  const { metadata } = copy;
  delete metadata.generateName;
  const owners = metadata.ownerReferences ?? [];
  const present = owners.filter((/** @type {any} */ each) => !gone.has(each.uid));
  if (present.length < owners.length) notes.push("deleted.note_owners");
  setOrDelete(metadata, "ownerReferences", present);
  for (const field of ["labels", "annotations"]) {
    const kept = Object.entries(metadata[field] ?? {}).filter(([name]) => !OF_ONE_LIFE.test(name));
    if (kept.length) metadata[field] = Object.fromEntries(kept);
    else delete metadata[field];
  }
  if (object.kind === "Pod" && copy.spec?.nodeName) {
    delete copy.spec.nodeName;
    notes.push("deleted.note_node");
  }
  if (object.kind === "Job" && !copy.spec?.manualSelector) {
    delete copy.spec?.selector;
    for (const name of Object.keys(copy.spec?.template?.metadata?.labels ?? {})) if (OF_ONE_LIFE.test(name)) delete copy.spec.template.metadata.labels[name];
  }
  if (object.status !== undefined) notes.push("deleted.note_status");
  if (metadata.annotations?.[LAST_APPLIED] !== undefined && object.kind === "Secret") delete metadata.annotations[LAST_APPLIED];
  return { manifest: copy, notes };
}

/** @param {any} object @param {string} name @param {any[]} list */
function setOrDelete(object, name, list) {
  if (list.length) object[name] = list;
  else delete object[name];
}
