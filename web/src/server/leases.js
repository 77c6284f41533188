/** Leases: the servers of the cluster, and the holders of locks. */

/**
 * @typedef {{ name: string, namespace: string, holder: string, acquired: string, renewed: string, transitions: number, expired: boolean, server: boolean }} Held
 */

const IDENTITY = "apiserver.kubernetes.io/identity";
const OF_NODES = "kube-node-lease";

/**
 * Return the leases but those of nodes; expired ones last.
 * @param {any[]} leases
 * @param {number} nowMs
 * @returns {Held[]}
 */
export function heldLeases(leases, nowMs) {
  const held = leases.filter(({ metadata }) => metadata.namespace !== OF_NODES).map(({ metadata, spec }) => {
    const renewed = spec?.renewTime ?? spec?.acquireTime ?? "";
    const seconds = spec?.leaseDurationSeconds ?? 0;
    return {
      name: metadata.name, namespace: metadata.namespace, holder: spec?.holderIdentity ?? "", acquired: spec?.acquireTime ?? "", renewed,
      transitions: spec?.leaseTransitions ?? 0, expired: !spec?.holderIdentity || !(Date.parse(renewed) + seconds * 1000 >= nowMs),
      server: metadata.labels?.[IDENTITY] !== undefined,
    };
  });
  return held.sort((a, b) => Number(a.expired) - Number(b.expired) || (a.name < b.name ? -1 : a.name > b.name ? 1 : a.namespace < b.namespace ? -1 : 1));
}

/**
 * Return the flags that a server shows at `/flagz`.
 * @param {string} text
 * @returns {Map<string, string>}
 */
export function flagsOf(text) {
  return new Map([...text.matchAll(/^([a-z][\w-]*)=(.*)$/gm)].map(([, name, value]) => [name, value]));
}
