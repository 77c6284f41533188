/** Folds a graph so that few nodes are drawn: objects of the same owner, kind and health become one counted group. */
import { rank } from "./levels.js";
import { addReason } from "./reasons.js";

/** Nodes that are drawn at most. */
export const DRAWN_MAX = 500;
/** A graph of this size is drawn whole. */
const SMALL = 24;
/** A group of more objects is folded; of less, if too many nodes are left. */
const SIZES = [6, 3, 2];
/** Objects that one opening of a group shows. */
export const OPENED = 50;

/**
 * @typedef {import("./graph.js").Graph} Graph
 * @typedef {import("./graph.js").Node} Node
 * @typedef {{ id: string, node: Node, count: number, members: string[] }} Drawn
 * `count`: 1 for an object; otherwise `node` is one of a group.
 * @typedef {{ id: string, from: string, to: string, type: import("./graph.js").Edge["type"], why: string[], count: number }} DrawnEdge
 * @typedef {{ nodes: Drawn[], edges: DrawnEdge[], byId: Map<string, Drawn>, drawnAs: Map<string, string> }} Folded
 * `drawnAs`: groups of the folded objects.
 */

/**
 * @param {Graph} graph
 * @param {Set<string>} ids nodes to show
 * @param {{ pinned: Set<string>, opened: string[] }} options `pinned` nodes are never in a group. Groups in `opened` show
 *   some of their objects, more of them for each mention.
 * @returns {Folded}
 */
export function fold(graph, ids, { pinned, opened }) {
  const depths = byDepth(graph, ids);
  if (ids.size <= SMALL) return drawn(graph, ids, new Map());
  for (const keyed of [keyByOwner, keyByKind]) {
    for (const size of SIZES) {
      const groups = groupsOf(graph, depths, { pinned, opened, size, keyed });
      if (ids.size - groups.folded + groups.count <= DRAWN_MAX) return drawn(graph, ids, groups.drawnAs);
    }
  }
  const last = groupsOf(graph, depths, { pinned: new Set([...pinned].slice(0, DRAWN_MAX / 2)), opened: [], size: 1, keyed: keyByKind });
  return drawn(graph, ids, last.drawnAs);
}

/**
 * Return a short name of a group for addresses.
 * @param {string} key
 */
export function groupId(key) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return `group-${(hash >>> 0).toString(36)}`;
}

/**
 * @param {Graph} graph
 * @param {string[][]} depths
 * @param {{ pinned: Set<string>, opened: string[], size: number, keyed: (node: Node, owner: string) => string }} options
 */
function groupsOf(graph, depths, { pinned, opened, size, keyed }) {
  /** @type {Map<string, string>} */
  const drawnAs = new Map();
  let folded = 0;
  let count = 0;
  for (const ids of depths) {
    /** @type {Map<string, Node[]>} */
    const buckets = new Map();
    for (const id of ids) {
      if (pinned.has(id)) continue;
      const node = /** @type {Node} */ (graph.nodes.get(id));
      const key = keyed(node, drawnAs.get(node.owner) ?? node.owner);
      const bucket = buckets.get(key);
      if (bucket) bucket.push(node);
      else buckets.set(key, [node]);
    }
    for (const [key, nodes] of buckets) {
      const id = groupId(key);
      const shown = opened.filter((each) => each === id).length * OPENED;
      if (nodes.length <= size || nodes.length - shown < 2) continue;
      for (const node of nodes.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(shown)) {
        drawnAs.set(node.id, id);
        folded++;
      }
      count++;
    }
  }
  return { drawnAs, folded, count };
}

/** @param {Node} node @param {string} owner */
function keyByOwner(node, owner) {
  return `${owner}|${node.kindName}.${node.group}|${node.level}|${node.state}`;
}

/** @param {Node} node */
function keyByKind(node) {
  return keyByOwner(node, "");
}

/** Return nodes by the length of their chain of owners. @param {Graph} graph @param {Set<string>} ids */
function byDepth(graph, ids) {
  /** @type {string[][]} */
  const depths = [];
  for (const id of ids) {
    let depth = 0;
    const visited = new Set([id]);
    for (let owner = graph.nodes.get(id)?.owner; owner && ids.has(owner) && !visited.has(owner); owner = graph.nodes.get(owner)?.owner) {
      visited.add(owner);
      depth++;
    }
    (depths[depth] ??= []).push(id);
  }
  return depths.map((each) => each ?? []);
}

/** @param {Graph} graph @param {Set<string>} ids @param {Map<string, string>} drawnAs @returns {Folded} */
function drawn(graph, ids, drawnAs) {
  /** @type {Map<string, Drawn>} */
  const nodes = new Map();
  for (const id of ids) {
    const node = /** @type {Node} */ (graph.nodes.get(id));
    const group = drawnAs.get(id);
    const present = group === undefined ? undefined : nodes.get(group);
    if (present) present.members.push(id);
    else nodes.set(group ?? id, { id: group ?? id, node, count: 1, members: [id] });
  }
  for (const each of nodes.values()) each.count = each.members.length;
  /** @type {Map<string, DrawnEdge>} */
  const edges = new Map();
  for (const id of ids) {
    for (const edge of graph.out.get(id) ?? []) {
      if (ids.has(edge.to)) merge(edges, drawnAs.get(edge.from) ?? edge.from, drawnAs.get(edge.to) ?? edge.to, edge);
    }
  }
  const sorted = [...nodes.values()].sort((a, b) => rank(a.node.level) - rank(b.node.level) || (a.id < b.id ? -1 : 1));
  return { nodes: sorted, edges: [...edges.values()], byId: nodes, drawnAs };
}

/** @param {Map<string, DrawnEdge>} edges @param {string} from @param {string} to @param {import("./graph.js").Edge} edge */
function merge(edges, from, to, { type, why }) {
  if (from === to) return;
  const id = `${from} ${to} ${type}`;
  const present = edges.get(id);
  if (!present) edges.set(id, { id, from, to, type, why: why.slice(0, REASONS_MAX), count: 1 });
  else {
    present.count++;
    for (const each of why) addReason(present.why, each, REASONS_MAX);
  }
}

const REASONS_MAX = 6;
