/** Fields that the server writes. They are shown folded, and never sent. */
import { LAST_APPLIED, MASK, isSecret } from "../details/secret.js";

const METADATA = ["managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"];

/**
 * Return an object without what the server writes.
 * @param {any} object
 * @param {{ status?: boolean }} [options] `status`: keep it
 */
export function withoutServerFields(object, { status = false } = {}) {
  const copy = { ...object, metadata: { ...object?.metadata } };
  for (const name of METADATA) delete copy.metadata[name];
  if (!status) delete copy.status;
  return copy;
}

/**
 * Return an object with the values of a Secret that the user has left masked.
 * @param {any} object
 * @param {any} stored
 */
export function unmasked(object, stored) {
  if (!isSecret(object) || !stored) return object;
  const copy = structuredClone(object);
  for (const field of ["data", "stringData"]) {
    for (const [name, value] of Object.entries(copy[field] ?? {})) {
      if (value === MASK && Object.hasOwn(stored[field] ?? {}, name)) copy[field][name] = stored[field][name];
    }
  }
  const annotations = copy.metadata?.annotations;
  if (annotations?.[LAST_APPLIED] === MASK) annotations[LAST_APPLIED] = stored.metadata?.annotations?.[LAST_APPLIED];
  return copy;
}

/**
 * Return an object with the managed fields at the end of its metadata, as in the text.
 * @param {any} object
 */
export function inTextOrder(object) {
  const { managedFields, ...metadata } = object.metadata;
  return { ...object, metadata: managedFields ? { ...metadata, managedFields } : metadata };
}
