/** Cluster roles that would permit an action, and the command that binds one. */

import { isBuiltIn } from "../discovery/kinds.js";

const READING = new Set(["get", "list", "watch"]);
/** Resources that the role view leaves out. */
const NOT_VIEWED = new Set(["secrets", "roles", "rolebindings"]);

/**
 * Return the smallest of Kubernetes' roles that permits a verb on a resource.
 * @param {{ group: string, plural: string, namespaced: boolean }} kind
 * @param {string} verb
 */
export function roleFor({ group, plural, namespaced }, verb) {
  if (!namespaced || !isBuiltIn(group)) return "cluster-admin";
  if (plural === "roles" || plural === "rolebindings") return "admin";
  if (NOT_VIEWED.has(plural)) return "edit";
  return READING.has(verb) ? "view" : "edit";
}

/**
 * Return the command that gives a user a role.
 * @param {string} role
 * @param {string} user
 * @param {string} namespace empty: in the whole cluster
 */
export function bindingCommand(role, user, namespace) {
  const name = `${role}-${user.replace(/[^a-z0-9]+/gi, "-").toLowerCase()}`.slice(0, 63);
  const subject = user.startsWith("system:serviceaccount:") ? `--serviceaccount=${user.split(":").slice(2).join(":")}` : `--user=${quoted(user)}`;
  const verb = namespace ? "rolebinding" : "clusterrolebinding";
  return `kubectl create ${verb} ${name} --clusterrole=${role} ${subject}${namespace ? ` --namespace=${namespace}` : ""}`;
}

/**
 * Return a text as one word of a shell.
 * @param {string} text
 */
export function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
