/** Actions on objects of well-known kinds: which ones an object has, the right that each needs, and its request. */
import { apiPath } from "../discovery/kinds.js";

/**
 * @typedef {import("../discovery/kinds.js").Kind} Kind
 * @typedef {{ group: string, version: string, plural: string }} Resource
 * @typedef {{ method: string, path: string, body: unknown, type?: string }} Write
 * @typedef {{ kind: Resource, namespace: string, name: string, verb: string, subresource?: string }} Right
 * @typedef {{ id: string, icon: string, right: Right, danger?: boolean, input?: "replicas" | "images",
 *   write: (input: Record<string, any>) => Write }} ObjectAction
 */

const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const APPS = "apps";
const TEMPLATED = new Set(["deployments.apps", "statefulsets.apps", "daemonsets.apps"]);
const SCALED = new Set(["deployments.apps", "statefulsets.apps", "replicasets.apps", "replicationcontrollers."]);
const JOBS = { group: "batch", version: "v1", plural: "jobs" };

/**
 * Return the actions of an object.
 * @param {Kind} kind
 * @param {any} object
 * @returns {ObjectAction[]}
 */
export function actionsOf(kind, object) {
  const { name, namespace = "" } = object.metadata;
  const id = `${kind.plural}.${kind.group}`;
  const path = apiPath(kind, namespace, name);
  const right = (/** @type {string} */ verb, subresource = "") => ({ kind, namespace, name, verb, subresource });
  const patch = (/** @type {string} */ action, /** @type {string} */ icon, /** @type {() => unknown} */ body) => ({
    id: action, icon, right: right("patch"), write: () => ({ method: "PATCH", path, body: body(), type: MERGE }),
  });
  const flag = (/** @type {string} */ field, /** @type {[string, string]} */ [on, off]) => {
    const set = Boolean(object.spec?.[field]);
    return patch(set ? off : on, set ? "play" : "pause", () => ({ spec: { [field]: !set } }));
  };
  /** @type {ObjectAction[]} */
  const found = [];
  if (SCALED.has(id)) {
    found.push({ id: "scale", icon: "scale", right: right("patch", "scale"), input: "replicas", write: ({ replicas }) => ({ method: "PATCH", path: `${path}/scale`, body: { spec: { replicas } }, type: MERGE }) });
  }
  if (TEMPLATED.has(id)) {
    const annotations = () => ({ "kubectl.kubernetes.io/restartedAt": new Date().toISOString().replace(/\.\d+Z$/, "Z") });
    found.push(patch("restart", "restart", () => ({ spec: { template: { metadata: { annotations: annotations() } } } })));
    found.push({ id: "image", icon: "box", right: right("patch"), input: "images", write: ({ images }) => ({ method: "PATCH", path, body: imagePatch(images), type: STRATEGIC }) });
  }
  if (kind.group === APPS && kind.plural === "deployments") found.push(flag("paused", ["pause", "resume"]));
  if (id === "nodes.") found.push(flag("unschedulable", ["cordon", "uncordon"]));
  if (id === "cronjobs.batch") found.push({ id: "trigger", icon: "play", right: { kind: JOBS, namespace, name: "", verb: "create" }, write: () => trigger(object) });
  if (id === "cronjobs.batch" || id === "jobs.batch") found.push(flag("suspend", ["suspend", "unsuspend"]));
  if (id === "pods.") found.push({ id: "evict", icon: "exit", danger: true, right: right("create", "eviction"), write: () => eviction(path, object) });
  if (id === "certificatesigningrequests.certificates.k8s.io" && !object.status?.certificate) {
    for (const [action, type] of [["approve", "Approved"], ["deny", "Denied"]]) {
      found.push({ id: action, icon: action === "approve" ? "check" : "close", danger: action === "deny", right: right("update", "approval"), write: () => approval(path, object, type) });
    }
  }
  return found;
}

/** @param {Record<string, string>} images by container @returns {unknown} */
function imagePatch(images) {
  const containers = Object.entries(images).map(([name, image]) => ({ name, image }));
  return { spec: { template: { spec: { containers } } } };
}

/** @param {any} cronJob @returns {Write} */
function trigger({ metadata, spec }) {
  const { name, namespace, uid } = metadata;
  const suffix = Date.now().toString(36).slice(-6);
  const template = spec.jobTemplate ?? {};
  const owner = { apiVersion: "batch/v1", kind: "CronJob", name, uid, controller: true, blockOwnerDeletion: true };
  const body = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      ...template.metadata, name: `${name.slice(0, 52)}-${suffix}`, namespace, ownerReferences: [owner],
      annotations: { ...template.metadata?.annotations, "cronjob.kubernetes.io/instantiate": "manual" },
    },
    spec: template.spec,
  };
  return { method: "POST", path: apiPath(JOBS, namespace), body };
}

/** @param {string} path @param {any} pod @returns {Write} */
function eviction(path, { metadata: { name, namespace, uid } }) {
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace }, deleteOptions: { preconditions: { uid } } };
  return { method: "POST", path: `${path}/eviction`, body };
}

/** @param {string} path @param {any} request @param {string} type @returns {Write} */
function approval(path, request, type) {
  const condition = { type, status: "True", reason: "SampanDashboard", message: "Decided in the dashboard.", lastUpdateTime: new Date().toISOString() };
  const conditions = [...(request.status?.conditions ?? []).filter((/** @type {any} */ each) => each.type !== type), condition];
  return { method: "PUT", path: `${path}/approval`, body: { ...request, status: { ...request.status, conditions } } };
}
