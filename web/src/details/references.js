/** References in an object, found by the names of fields: `configMapRef`, `secretName`, `nodeName` and others. */

/** @typedef {{ apiVersion: string, kind: string, name: string, namespace: string }} Reference */

/** Fields with a name as a text. @type {Record<string, [string, string, boolean]>} */
const NAMES = {
  secretName: ["v1", "Secret", true],
  serviceAccountName: ["v1", "ServiceAccount", true],
  serviceAccount: ["v1", "ServiceAccount", true],
  nodeName: ["v1", "Node", false],
  claimName: ["v1", "PersistentVolumeClaim", true],
  volumeName: ["v1", "PersistentVolume", false],
  persistentVolumeName: ["v1", "PersistentVolume", false],
  storageClassName: ["storage.k8s.io/v1", "StorageClass", false],
  ingressClassName: ["networking.k8s.io/v1", "IngressClass", false],
  priorityClassName: ["scheduling.k8s.io/v1", "PriorityClass", false],
  runtimeClassName: ["node.k8s.io/v1", "RuntimeClass", false],
  serviceName: ["v1", "Service", true],
};
/** Fields with an object that has a name. @type {Record<string, [string, string]>} */
const OBJECTS = {
  configMap: ["v1", "ConfigMap"],
  configMapRef: ["v1", "ConfigMap"],
  configMapKeyRef: ["v1", "ConfigMap"],
  secret: ["v1", "Secret"],
  secretRef: ["v1", "Secret"],
  secretKeyRef: ["v1", "Secret"],
  imagePullSecrets: ["v1", "Secret"],
  secrets: ["v1", "Secret"],
  nodePublishSecretRef: ["v1", "Secret"],
  service: ["v1", "Service"],
  claimRef: ["v1", "PersistentVolumeClaim"],
};

/**
 * Return the object that a field refers to, or null.
 * @param {readonly (string | number)[]} path names of the fields, to the one with the name
 * @param {any} value of the last field
 * @param {any} parent object with the last field
 * @param {string} namespace of the object
 * @returns {Reference | null}
 */
export function referenceAt(path, value, parent, namespace) {
  if (typeof value !== "string" || value === "") return null;
  const field = String(path[path.length - 1]);
  if (field === "secretName" && path.includes("configMap")) return null;
  if (Object.hasOwn(NAMES, field)) {
    const [apiVersion, kind, namespaced] = NAMES[field];
    return { apiVersion, kind, name: value, namespace: namespaced ? namespace : "" };
  }
  if (field !== "name") return null;
  const holder = String(path.findLast((part, i) => i < path.length - 1 && typeof part === "string") ?? "");
  if (typeof parent.kind === "string" && (/ref$/i.test(holder) || /refs$/i.test(holder) || ["subjects", "involvedObject", "ownerReferences"].includes(holder))) {
    return kindReference(parent, value, namespace);
  }
  if (!Object.hasOwn(OBJECTS, holder)) return null;
  const [apiVersion, kind] = OBJECTS[holder];
  return { apiVersion, kind, name: value, namespace: parent.namespace ?? namespace };
}

/**
 * @param {any} parent
 * @param {string} name
 * @param {string} namespace
 * @returns {Reference | null}
 */
function kindReference(parent, name, namespace) {
  if (parent.kind === "User" || parent.kind === "Group") return null;
  const version = parent.apiVersion ?? (parent.apiGroup ? `${parent.apiGroup}/v1` : "v1");
  return { apiVersion: version, kind: parent.kind, name, namespace: parent.namespace ?? namespace };
}
