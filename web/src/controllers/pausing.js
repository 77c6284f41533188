/** Annotations that pause the reconciles of one object, resume them, or request one. Operators of the toolkit honour them. */
import { apiPath } from "../discovery/kinds.js";
import { session } from "../session/session.js";

const PAUSED = "operator.sampan.dev/reconcile-paused";
const PAUSED_BY = "operator.sampan.dev/reconcile-paused-by";
const REQUESTED = "operator.sampan.dev/reconcile-requested-at";

/**
 * Return who has paused an object, and when; null if it is not paused. Other clients may write neither.
 * @param {any} object
 */
export function pauseOf({ metadata: { annotations = {} } }) {
  const value = annotations[PAUSED] ?? "";
  return value && value !== "false" ? { by: annotations[PAUSED_BY] ?? "", at: Date.parse(value) } : null;
}

/**
 * @param {import("../discovery/kinds.js").Kind} kind
 * @param {any} object
 * @returns {import("../actions/actions.js").ObjectAction[]}
 */
export function pauseActions(kind, object) {
  const { name, namespace = "" } = object.metadata;
  const annotate = (/** @type {string} */ id, /** @type {string} */ icon, /** @type {(now: string) => Record<string, unknown>} */ values) => ({
    id, icon, right: { kind, namespace, name, verb: "patch" },
    write: () => ({ method: "PATCH", path: apiPath(kind, namespace, name), body: { metadata: { annotations: values(new Date().toISOString()) } }, type: "application/merge-patch+json" }),
  });
  return pauseOf(object)
    ? [annotate("unhold", "play", () => ({ [PAUSED]: null, [PAUSED_BY]: null }))]
    : [annotate("requeue", "restart", (now) => ({ [REQUESTED]: now })),
      annotate("hold", "pause", (now) => ({ [PAUSED]: now, [PAUSED_BY]: session.login.peek()?.user.username }))];
}
