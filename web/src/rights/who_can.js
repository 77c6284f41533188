/** Subjects that may do something, from RBAC: each with the path from its role to its binding. */
import { permits } from "./permits.js";

/**
 * @typedef {{ kind: string, name: string, namespace: string }} Subject
 * @typedef {{ subject: Subject, role: string, roleKind: string, binding: string, bindingKind: string, namespace: string }} Grant
 * `namespace` is that of the binding; empty for the whole cluster.
 * @typedef {{ clusterRoles: any[], roles: any[], clusterRoleBindings: any[], roleBindings: any[] }} Rbac
 * @typedef {{ group: string, plural: string, verb: string, subresource?: string, name?: string, namespace: string }} Action `namespace` is empty for the whole cluster
 */

/**
 * Return the grants of an action, sorted by subject. A binding counts once for each of its subjects.
 *
 * Groups are listed, not their members: RBAC does not know these.
 * @param {Rbac} rbac
 * @param {Action} action
 * @returns {Grant[]}
 */
export function grantsOf({ clusterRoles, roles, clusterRoleBindings, roleBindings }, action) {
  const allows = (/** @type {any} */ role) => role !== undefined && permits({ rules: role.rules ?? [], incomplete: false }, action, action.verb, action) === true;
  const ofCluster = new Map(clusterRoles.map((role) => [role.metadata.name, role]));
  const ofNamespace = new Map(roles.map((role) => [`${role.metadata.namespace}/${role.metadata.name}`, role]));
  /** @type {Grant[]} */
  const grants = [];
  const add = (/** @type {any} */ binding, /** @type {string} */ bindingKind) => {
    for (const subject of binding.subjects ?? []) {
      grants.push({
        subject: { kind: subject.kind, name: subject.name, namespace: subject.kind === "ServiceAccount" ? subject.namespace : "" },
        role: binding.roleRef.name, roleKind: binding.roleRef.kind, binding: binding.metadata.name, bindingKind, namespace: binding.metadata.namespace ?? "",
      });
    }
  };
  for (const binding of clusterRoleBindings) {
    if (allows(ofCluster.get(binding.roleRef.name))) add(binding, "ClusterRoleBinding");
  }
  for (const binding of action.namespace ? roleBindings : []) {
    const { namespace } = binding.metadata;
    const { kind, name } = binding.roleRef;
    if (namespace === action.namespace && allows(kind === "ClusterRole" ? ofCluster.get(name) : ofNamespace.get(`${namespace}/${name}`))) add(binding, "RoleBinding");
  }
  return grants.sort((a, b) => compared(titleOf(a.subject), titleOf(b.subject)) || compared(a.binding, b.binding));
}

/**
 * Return the name of a subject as an API server knows it.
 * @param {Subject} subject
 */
export function titleOf({ kind, name, namespace }) {
  return kind === "ServiceAccount" ? `system:serviceaccount:${namespace}:${name}` : name;
}

/** @param {string} a @param {string} b */
function compared(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
