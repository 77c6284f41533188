/** Kinds that the server serves, from aggregated discovery, and their place in the menu. */

/**
 * @typedef {{ group: string, version: string, plural: string, singular: string, kind: string, namespaced: boolean,
 *   verbs: string[], shortNames: string[], categories: string[] }} Kind
 */

const SECTIONS = /** @type {const} */ (["workloads", "network", "configuration", "storage", "access", "cluster", "other"]);

/** Names of the resources of each section, in the order of the menu. */
const PLACES = {
  workloads: "pods deployments statefulsets daemonsets replicasets jobs cronjobs horizontalpodautoscalers poddisruptionbudgets replicationcontrollers",
  network: "services ingresses endpointslices endpoints networkpolicies ingressclasses ipaddresses servicecidrs",
  configuration: "configmaps secrets resourcequotas limitranges podtemplates",
  storage: "persistentvolumeclaims persistentvolumes storageclasses volumeattachments csidrivers csinodes csistoragecapacities volumeattributesclasses",
  access: "serviceaccounts roles rolebindings clusterroles clusterrolebindings certificatesigningrequests",
  cluster: "nodes namespaces events customresourcedefinitions apiservices leases priorityclasses runtimeclasses",
};

/** Groups of Kubernetes' own kinds with a dot. Projects outside of it have groups with the same suffix. */
const OWN_GROUPS = new Set(
  ["admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization", "certificates", "coordination", "discovery",
    "events", "flowcontrol.apiserver", "internal.apiserver", "metrics", "networking", "node", "rbac.authorization", "resource", "scheduling",
    "storage", "storagemigration"].map((name) => `${name}.k8s.io`),
);

/**
 * Return whether a group is one of Kubernetes itself.
 * @param {string} group
 */
export function isBuiltIn(group) {
  return !group.includes(".") || OWN_GROUPS.has(group);
}

/** @type {Map<string, { section: string, rank: number }>} */
const RANKS = new Map(
  Object.entries(PLACES).flatMap(([section, names]) =>
    names.split(" ").map((name, rank) => /** @type {[string, { section: string, rank: number }]} */ ([name, { section, rank }])),
  ),
);

/**
 * Return the kinds that can be listed; of each resource the version that the server prefers.
 * @param {any[]} lists of type APIGroupDiscoveryList
 * @returns {Kind[]}
 */
export function kindsOf(lists) {
  /** @type {Map<string, Kind>} */
  const found = new Map();
  for (const item of lists.flatMap((list) => list.items ?? [])) {
    const group = item.metadata?.name ?? "";
    for (const { version, resources } of item.versions ?? []) {
      for (const each of resources ?? []) {
        const id = `${each.resource}.${group}`;
        if (found.has(id) || !each.verbs?.includes("list")) continue;
        found.set(id, {
          group,
          version,
          plural: each.resource,
          singular: each.singularResource ?? "",
          kind: each.responseKind?.kind ?? each.resource,
          namespaced: each.scope === "Namespaced",
          verbs: each.verbs,
          shortNames: each.shortNames ?? [],
          categories: each.categories ?? [],
        });
      }
    }
  }
  return [...found.values()].filter((kind) => !(kind.group === "events.k8s.io" && kind.plural === "events"));
}

/**
 * @typedef {{ id: string, group: string, kinds: Kind[] }} Section
 * A section of the menu. `group` is the API group of custom resources, otherwise empty.
 */

/**
 * Return the sections of the menu: built-in kinds by topic, then custom resources by group.
 * @param {Kind[]} kinds
 * @returns {Section[]}
 */
export function sectionsOf(kinds) {
  /** @type {Map<string, Kind[]>} */
  const sections = new Map(SECTIONS.map((name) => [name, []]));
  /** @type {Map<string, Kind[]>} */
  const custom = new Map();
  for (const kind of kinds) {
    if (!isBuiltIn(kind.group)) custom.set(kind.group, [...(custom.get(kind.group) ?? []), kind]);
    else sections.get(RANKS.get(kind.plural)?.section ?? "other")?.push(kind);
  }
  const groups = [...custom.keys()].sort();
  return [
    ...[...sections].map(([id, list]) => ({ id, group: "", kinds: list.sort(byRank) })),
    ...groups.map((group) => ({ id: "custom", group, kinds: (custom.get(group) ?? []).sort(byRank) })),
  ].filter((section) => section.kinds.length > 0);
}

/**
 * @param {Kind} a
 * @param {Kind} b
 */
function byRank(a, b) {
  return (RANKS.get(a.plural)?.rank ?? 99) - (RANKS.get(b.plural)?.rank ?? 99) || a.kind.localeCompare(b.kind);
}

/**
 * Return the path of a resource in the API.
 * @param {{ group: string, version: string, plural: string }} kind
 * @param {string} [namespace]
 * @param {string} [name]
 */
export function apiPath(kind, namespace = "", name = "") {
  const root = kind.group ? `/apis/${kind.group}/${kind.version}` : `/api/${kind.version}`;
  const scope = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${root}${scope}/${kind.plural}${name ? `/${encodeURIComponent(name)}` : ""}`;
}

/**
 * Return the plural of a kind as a title: `NetworkPolicies`.
 * @param {{ kind: string, plural: string }} kind
 */
export function pluralTitle({ kind, plural }) {
  const lower = kind.toLowerCase();
  if (plural.startsWith(lower)) return kind + plural.slice(lower.length);
  if (lower.endsWith("y") && plural === `${lower.slice(0, -1)}ies`) return `${kind.slice(0, -1)}ies`;
  return kind;
}

/**
 * Return the name of a resource for kubectl: `deployments.apps`.
 * @param {{ group: string, plural: string }} kind
 */
export function resourceName({ group, plural }) {
  return group ? `${plural}.${group}` : plural;
}
