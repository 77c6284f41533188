/** Commands of kubectl for what is on the screen. */
import { resourceName } from "../discovery/kinds.js";
import { parseFilter, selectorsOf } from "../filter/parse.js";
import { quoted } from "../rights/roles.js";

/**
 * @typedef {import("../discovery/kinds.js").Kind} Kind
 * @typedef {{ name: string, text: string, verb: string, subresource: string }} Command
 */

/**
 * Return the command that prints a list. Terms that the page filters itself are not part of it.
 * @param {Kind} kind
 * @param {URLSearchParams} query
 * @param {import("../lists/namespaces.js").Allowed | null} [allowed] where the user may list the kind
 */
export function listCommand(kind, query, allowed = null) {
  const chosen = (query.get("ns") ?? "").split(",").filter(Boolean);
  const namespaces = chosen.length || !allowed || allowed.allNamespaces ? chosen : allowed.namespaces;
  const { labelSelector, fieldSelector } = selectorsOf(parseFilter(query.get("q") ?? ""));
  const options = [
    ...(labelSelector ? [`--selector=${quoted(labelSelector)}`] : []),
    ...(fieldSelector ? [`--field-selector=${quoted(fieldSelector)}`] : []),
    ...(query.get("wide") === "1" ? ["--output=wide"] : []),
  ];
  const scopes = !kind.namespaced ? [""] : namespaces.length ? namespaces.map((each) => `--namespace=${quoted(each)}`) : ["--all-namespaces"];
  return scopes.map((scope) => ["kubectl get", resourceName(kind), scope, ...options].filter(Boolean).join(" ")).join("; ");
}

/**
 * Return the commands for an object, with the right that each one needs.
 * @param {Kind} kind
 * @param {string} namespace
 * @param {string} name
 * @returns {Command[]}
 */
export function objectCommands(kind, namespace, name) {
  const where = namespace ? ` --namespace=${quoted(namespace)}` : "";
  const target = `${resourceName(kind)} ${quoted(name)}${where}`;
  const command = (/** @type {string} */ verb, /** @type {string} */ text, subresource = "") => ({ name: verb, text, verb: VERBS[verb] ?? verb, subresource });
  const pod = kind.plural === "pods" && kind.group === "";
  const scalable = ["deployments", "statefulsets", "replicasets"].includes(kind.plural) && kind.group === "apps";
  return [
    command("get", `kubectl get ${target} --output=yaml`),
    command("describe", `kubectl describe ${target}`),
    command("history", `kubectl sampan history ${target}`),
    ...(pod ? [command("logs", `kubectl logs ${quoted(name)}${where} --all-containers`, "log")] : []),
    ...(pod ? [command("exec", `kubectl exec ${quoted(name)}${where} --stdin --tty -- sh`, "exec")] : []),
    ...(scalable ? [command("scale", `kubectl scale ${target} --replicas=2`, "scale")] : []),
    command("edit", `kubectl edit ${target}`),
    command("delete", `kubectl delete ${target}`),
  ].filter((each) => each.subresource || kind.verbs.includes(each.verb));
}

/** Verbs of RBAC by command. @type {Record<string, string>} */
const VERBS = { describe: "get", history: "list", logs: "get", exec: "create", scale: "patch", edit: "patch" };
