/** Number of objects of a kind, without reading them: from a list of one object. */
import { apiPath } from "../discovery/kinds.js";
import { allowedNamespaces } from "../lists/namespaces.js";
import { session } from "../session/session.js";
import { StatusError } from "../transport/errors.js";

const ACCEPT = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/** Namespaces that are counted for a user without rights on all. */
const NAMESPACES_MAX = 10;

/**
 * Return how many objects the user may list; null if none may be listed, or in too many namespaces.
 * @param {import("../discovery/kinds.js").Kind} kind
 * @param {AbortSignal} stop
 */
export async function countOf(kind, stop) {
  const allowed = kind.namespaced ? await allowedNamespaces(kind, stop) : null;
  const scopes = allowed && !allowed.allNamespaces ? allowed.namespaces : [""];
  if (scopes.length === 0 || scopes.length > NAMESPACES_MAX) return null;
  try {
    const counts = await Promise.all(scopes.map((namespace) => countIn(kind, namespace, stop)));
    return counts.reduce((sum, each) => sum + each, 0);
  } catch (error) {
    if (error instanceof StatusError) return null;
    throw error;
  }
}

/**
 * @param {import("../discovery/kinds.js").Kind} kind
 * @param {string} namespace
 * @param {AbortSignal} stop
 */
async function countIn(kind, namespace, stop) {
  const list = await session.transport.json(`${apiPath(kind, namespace)}?limit=1`, { accept: ACCEPT, signal: stop });
  return list.items.length + (list.metadata?.remainingItemCount ?? 0);
}
