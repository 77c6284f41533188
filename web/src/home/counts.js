/** Number of objects of a kind, without reading them: from a list of one object. */
import { apiPath } from "../discovery/kinds.js";
import { allowedNamespaces } from "../lists/namespaces.js";
import { momentText } from "../past/moment.js";
import { readList } from "../past/read.js";
import { mayList } from "../rights/access.js";
import { StatusError } from "../transport/errors.js";

const ACCEPT = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/** Codes of a moment that the server has removed, and of a server without a history. */
const NO_PAST = new Set([410, 501]);
/** Namespaces that are read for a user without rights on all. */
const NAMESPACES_MAX = 10;

/**
 * Return the namespaces in which a kind is read: "" is all of them. Null: none may be listed, or too many.
 * @param {import("../discovery/kinds.js").Kind} kind
 * @param {AbortSignal} stop
 */
export async function scopesOf(kind, stop) {
  if (!kind.namespaced) return (await mayList(kind, "")) ? [""] : null;
  const allowed = await allowedNamespaces(kind);
  const scopes = allowed && !allowed.allNamespaces ? allowed.namespaces : [""];
  return scopes.length === 0 || scopes.length > NAMESPACES_MAX ? null : scopes;
}

/**
 * Return how many objects a namespace has; null if the user may not list them. Raises `StatusError` of a past that the server does not have.
 * @param {import("../discovery/kinds.js").Kind} kind
 * @param {string} namespace
 * @param {AbortSignal} stop
 */
export async function countIn(kind, namespace, stop) {
  try {
    const list = await readList(apiPath(kind, namespace), { limit: "1" }, { accept: ACCEPT, signal: stop });
    return Number(list.items.length + (list.metadata?.remainingItemCount ?? 0));
  } catch (error) {
    if (error instanceof StatusError && !(momentText.peek() && NO_PAST.has(error.code))) return null;
    throw error;
  }
}
