/** What is new: objects that were created or changed, the newest first. */

/**
 * @typedef {import("./troubles.js").Listed} Listed
 * @typedef {{ kind: import("../discovery/kinds.js").Kind, row: import("../table/store.js").Row, at: string, created: boolean, manager: string }} Change
 */

/** Namespaces of the system, and objects that every namespace has. */
const SYSTEM = /^kube-(system|public|node-lease)$/;
const EVERYWHERE = new Set(["kube-root-ca.crt", "kubernetes"]);
/** Kinds whose objects change all the time. */
const RESTLESS = new Set(["events", "leases", "endpointslices", "endpoints", "nodes"]);

/**
 * Return the last changes of objects that no controller owns. Changes of a status do not count.
 * @param {Listed[]} lists
 * @param {number} max
 * @returns {Change[]}
 */
export function changesOf(lists, max) {
  /** @type {Change[]} */
  const found = [];
  for (const { kind, rows } of lists) {
    if (RESTLESS.has(kind.plural)) continue;
    for (const row of rows) {
      const { name, namespace = name, ownerReferences } = row.metadata;
      if (SYSTEM.test(namespace) || EVERYWHERE.has(name) || ownerReferences?.some((each) => each.controller)) continue;
      const created = row.metadata.creationTimestamp ?? "";
      const isNew = !row.changed || (row.changed.edits <= 1 && row.changed.at <= created);
      found.push({ kind, row, at: row.changed?.at ?? created, created: isNew, manager: row.changed?.manager ?? "" });
    }
  }
  return found.sort((a, b) => b.at.localeCompare(a.at)).slice(0, max);
}
