/** What the user may do to an object, from SelfSubjectAccessReviews. Answers are kept for ten seconds. */
import { session } from "../session/session.js";
import { permits } from "./permits.js";
import { rulesIn } from "./rules.js";

const PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const KEPT_MS = 10_000;
const KEPT_MAX = 500;
/** @type {Map<string, { at: number, answer: Promise<boolean> }>} */
const answers = new Map();

/**
 * Return whether the user may do something.
 * @param {{ group: string, version: string, plural: string }} kind
 * @param {string} namespace
 * @param {string} name
 * @param {string} verb
 * @param {string} [subresource]
 */
export function isAllowed({ group, version, plural }, namespace, name, verb, subresource = "") {
  return review({ resourceAttributes: { group, version, resource: plural, subresource, namespace, name, verb } });
}

/**
 * Return whether the user may do something at a path outside resources.
 * @param {string} path
 * @param {string} verb
 */
export function isPathAllowed(path, verb) {
  return review({ nonResourceAttributes: { path, verb } });
}

/**
 * Return whether a list is worth a request: false if the server would refuse it, also true without an answer.
 * @param {{ group: string, version: string, plural: string }} kind
 * @param {string} namespace empty for the whole cluster
 */
export async function mayList(kind, namespace) {
  try {
    const known = namespace ? permits(await rulesIn(namespace), kind, "list") : undefined;
    return known ?? (await isAllowed(kind, namespace, "", "list"));
  } catch {
    return true;
  }
}

/** @param {object} spec */
function review(spec) {
  const key = JSON.stringify([session.login.peek()?.user.username, spec]);
  const kept = answers.get(key);
  if (kept && Date.now() - kept.at < KEPT_MS) return kept.answer;
  if (answers.size >= KEPT_MAX) answers.clear();
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec };
  const answer = session.transport.json(PATH, { method: "POST", body }).then((found) => Boolean(found.status?.allowed));
  answers.set(key, { at: Date.now(), answer });
  answer.catch(() => answers.delete(key));
  return answer;
}
