/** Last change of an object, from its managed fields. */

/** Managers of control loops, which follow the changes of others: Kubernetes' own, Sampan's, and those of its tests. */
export const LOOPS = /^(kube-controller-manager|kube-scheduler|kubelet|cloud-controller-manager|clusterrole-aggregation-controller|sampan-(loops|node|dns)|loops|node)$/;

/**
 * @typedef {{ manager?: string, operation?: string, subresource?: string, time?: string }} ManagedFields
 * @typedef {{ at: string, manager: string, edits: number }} Change
 * `edits`: number of managers that have changed the object. One of them has created it.
 */

/**
 * Return the newest change that is not one of a status or of a control loop; null if there is none.
 * @param {ManagedFields[] | undefined} managedFields
 * @returns {Change | null}
 */
export function lastChange(managedFields) {
  /** @type {{ at: string, manager: string } | null} */
  let last = null;
  let edits = 0;
  for (const { manager = "", subresource = "", time = "" } of managedFields ?? []) {
    if (subresource === "status" || LOOPS.test(manager)) continue;
    edits++;
    if (time >= (last?.at ?? "")) last = { at: time, manager };
  }
  return last && { ...last, edits };
}
