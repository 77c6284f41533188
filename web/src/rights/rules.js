/** Rules of the user in a namespace, from one SelfSubjectRulesReview. They are kept for ten seconds. */
import { session } from "../session/session.js";

const PATH = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
const KEPT_MS = 10_000;
const KEPT_MAX = 200;
/** A review needs a namespace. In this one, roles of namespaces rarely give a right to objects of the cluster. */
const FOR_CLUSTER = "default";

/** @type {Map<string, { at: number, answer: Promise<import("./permits.js").Rules> }>} */
const answers = new Map();

/**
 * Return the rules in a namespace; of the cluster, if it is empty.
 * @param {string} namespace
 * @returns {Promise<import("./permits.js").Rules>}
 */
export function rulesIn(namespace) {
  const asked = namespace || FOR_CLUSTER;
  const key = JSON.stringify([session.login.peek()?.user.username, asked]);
  const kept = answers.get(key);
  if (kept && Date.now() - kept.at < KEPT_MS) return kept.answer;
  if (answers.size >= KEPT_MAX) answers.clear();
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace: asked } };
  const answer = session.transport.json(PATH, { method: "POST", body }).then(({ status }) => ({
    rules: status?.resourceRules ?? [],
    incomplete: Boolean(status?.incomplete),
  }));
  answers.set(key, { at: Date.now(), answer });
  answer.catch(() => answers.delete(key));
  return answer;
}
