/** Namespaces in which the user may list a resource: the server's SelfNamespacesReview, without the right to list namespaces. */
import { signal } from "@preact/signals";
import { readList } from "../past/read.js";
import { mayList } from "../rights/access.js";
import { session } from "../session/session.js";
import { StatusError } from "../transport/errors.js";

const PATH = "/apis/sampan.dev/v1alpha1/selfnamespacesreviews";
const KEPT_MS = 10_000;

/** @typedef {{ allNamespaces: boolean, namespaces: string[], incomplete: boolean }} Allowed */

/** @type {Map<string, { at: number, answer: Promise<Allowed | null> }>} */
const answers = new Map();
/** Names of the namespaces that the menu offers; null: not known, so the user writes one. @type {import("@preact/signals").Signal<string[] | null>} */
export const namespaceNames = signal([]);

/**
 * Return where the user may list a resource, or do something else; null if the server cannot tell. The answer is kept
 * for ten seconds.
 * @param {{ group: string, plural: string }} kind
 * @param {string} [verb]
 */
export function allowedNamespaces(kind, verb = "list") {
  if (!session.has("namespaces")) return Promise.resolve(null);
  const key = `${session.login.peek()?.user.username} ${verb} ${kind.plural}.${kind.group}`;
  const kept = answers.get(key);
  if (kept && Date.now() - kept.at < KEPT_MS) return kept.answer;
  const answer = review(kind, verb);
  answers.set(key, { at: Date.now(), answer });
  answer.catch(() => answers.delete(key));
  return answer;
}

/**
 * @param {{ group: string, plural: string }} kind
 * @param {string} verb
 * @returns {Promise<Allowed | null>}
 */
async function review({ group, plural }, verb) {
  const spec = { resourceAttributes: { group, resource: plural, verb } };
  const body = { apiVersion: "sampan.dev/v1alpha1", kind: "SelfNamespacesReview", spec };
  try {
    const { status } = await session.transport.json(PATH, { method: "POST", body });
    return {
      allNamespaces: Boolean(status?.allNamespaces),
      namespaces: [...(status?.namespaces ?? [])].sort(),
      incomplete: Boolean(status?.incomplete),
    };
  } catch (error) {
    if (error instanceof StatusError && [403, 404, 405].includes(error.code)) return null;
    throw error;
  }
}

/** Read the names for the menu: all namespaces, or those in which the user may list Pods. */
export async function loadNamespaceNames() {
  try {
    if (!(await mayList({ group: "", version: "v1", plural: "namespaces" }, ""))) throw new StatusError(403, {});
    const list = await readList("/api/v1/namespaces", { limit: "1000" }, {
      accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    });
    namespaceNames.value = list.items.map((/** @type {any} */ item) => item.metadata.name).sort();
  } catch (error) {
    if (!(error instanceof StatusError)) return;
    const allowed = await allowedNamespaces({ group: "", plural: "pods" }).catch(() => null);
    namespaceNames.value = allowed && !allowed.allNamespaces ? allowed.namespaces : null;
  }
}

/**
 * Return the namespaces of an address: `ns=a,b`; empty: all.
 * @param {URLSearchParams} query
 */
export function chosenNamespaces(query) {
  return (query.get("ns") ?? "").split(",").filter(Boolean);
}
