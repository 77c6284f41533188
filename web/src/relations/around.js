/** Parts of a graph: what is around an object, what a filter leaves, and the path between two objects. */

/**
 * @typedef {import("./graph.js").Graph} Graph
 * @typedef {import("./graph.js").Edge} Edge
 * @typedef {{ edge: Edge, forward: boolean }} Step
 */

const BINDING = /^(Cluster)?RoleBinding\.rbac\.authorization\.k8s\.io\//;
const ACCOUNT = /^ServiceAccount\//;

/**
 * Return the nodes around an object: what it owns, what these use, what uses them, and the owners of all of them.
 * @param {Graph} graph
 * @param {string} root
 * @returns {Set<string>}
 */
export function around(graph, root) {
  const owned = follow(graph.out, [root], (edge) => edge.type === "owner", "to");
  const found = new Set([...follow(graph.out, owned, () => true, "to"), ...follow(graph.into, owned, () => true, "from")]);
  // Accounts of Pods lead to their roles, not to all other Pods.
  for (const id of found) {
    if (!ACCOUNT.test(id)) continue;
    for (const { from } of graph.into.get(id) ?? []) {
      if (BINDING.test(from)) for (const each of follow(graph.out, [from], () => true, "to")) found.add(each);
    }
  }
  for (const each of follow(graph.into, found, (edge) => edge.type === "owner", "from")) found.add(each);
  return found;
}

/**
 * Return all nodes that have a relation.
 * @param {Graph} graph
 * @param {string} root
 */
export function related(graph, root) {
  return new Set([root, ...graph.out.keys(), ...graph.into.keys()]);
}

/**
 * Return the nodes that match, and those that connect them with the root.
 * @param {Graph} graph
 * @param {Set<string>} ids
 * @param {string} root
 * @param {(node: import("./graph.js").Node) => boolean} matches
 */
export function connected(graph, ids, root, matches) {
  const steps = search(graph, root, ids, true);
  const kept = new Set([root]);
  for (const id of ids) {
    if (!matches(/** @type {import("./graph.js").Node} */ (graph.nodes.get(id)))) continue;
    let each = /** @type {string | undefined} */ (id);
    while (each !== undefined && !kept.has(each)) {
      kept.add(each);
      const step = steps.get(each);
      each = step && (step.forward ? step.edge.from : step.edge.to);
    }
  }
  return kept;
}

/**
 * Return the shortest path between two nodes: along the relations if there is one, or against some of them; null: none.
 * @param {Graph} graph
 * @param {string} from
 * @param {string} to
 * @param {Set<string>} ids nodes that it may use
 * @returns {Step[] | null}
 */
export function pathBetween(graph, from, to, ids) {
  for (const both of [false, true]) {
    const steps = search(graph, from, ids, both);
    if (from !== to && !steps.has(to)) continue;
    /** @type {Step[]} */
    const path = [];
    for (let each = to; each !== from; ) {
      const step = /** @type {Step} */ (steps.get(each));
      path.unshift(step);
      each = step.forward ? step.edge.from : step.edge.to;
    }
    return path;
  }
  return null;
}

/** @param {Graph} graph @param {string} from @param {Set<string>} ids @param {boolean} both also against the direction of relations */
function search(graph, from, ids, both) {
  /** @type {Map<string, Step>} */
  const steps = new Map();
  let edge = [from];
  while (edge.length) {
    /** @type {string[]} */
    const next = [];
    for (const id of edge) {
      const visit = (/** @type {string} */ each, /** @type {Step} */ step) => {
        if (each === from || steps.has(each) || !ids.has(each)) return;
        steps.set(each, step);
        next.push(each);
      };
      for (const out of graph.out.get(id) ?? []) visit(out.to, { edge: out, forward: true });
      if (both) for (const into of graph.into.get(id) ?? []) visit(into.from, { edge: into, forward: false });
    }
    edge = next;
  }
  return steps;
}

/**
 * @param {Map<string, Edge[]>} edges
 * @param {Iterable<string>} from
 * @param {(edge: Edge) => boolean} along
 * @param {"from" | "to"} end
 */
function follow(edges, from, along, end) {
  const found = new Set(from);
  const waiting = [...found];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const edge of edges.get(next) ?? []) {
      if (!along(edge) || found.has(edge[end])) continue;
      found.add(edge[end]);
      waiting.push(edge[end]);
    }
  }
  return found;
}
