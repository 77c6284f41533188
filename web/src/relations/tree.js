/** Tree of owners: the owners of an object, the object, and what it owns, as in `kubectl sampan tree`. Health rolls up. */
import { rank } from "./levels.js";

/**
 * @typedef {import("./graph.js").Node} Node
 * @typedef {{ node: Node, key: string, depth: number, position: number, siblings: number, children: Line[], parent: Line | null,
 *   again: boolean, cycle: boolean, self: boolean, above: boolean, worst: import("../health/row_health.js").Level, problems: number }} Line
 * `again`: what it owns is shown below another owner. `cycle`: it owns itself. `above`: an owner of the object.
 * `worst` and `problems` count what it owns, too.
 */

/**
 * Return the roots of the tree of an object: its topmost owners, or the object itself.
 * @param {import("./graph.js").Graph} graph
 * @param {string} id
 * @returns {Line[]}
 */
export function treeOf(graph, id) {
  if (!graph.nodes.has(id)) return [];
  const { above, tops } = ownersOf(graph, id);
  const shown = new Set();
  /** @type {Line[]} */
  const all = [];
  const line = (/** @type {string} */ each, /** @type {Line | null} */ parent, /** @type {number} */ position, /** @type {number} */ siblings) => {
    const node = /** @type {Node} */ (graph.nodes.get(each));
    /** @type {Line} */
    const made = {
      node, key: `${parent?.key ?? ""}>${each}`, depth: parent ? parent.depth + 1 : 0, position, siblings, children: [], parent,
      again: false, cycle: false, self: each === id, above: above.has(each), worst: node.level, problems: 0,
    };
    all.push(made);
    return made;
  };
  const roots = tops.map((each, i) => line(each, null, i + 1, tops.length));
  // A list instead of recursion: chains of owners may be thousands deep.
  const waiting = [...roots].reverse();
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const owned = ownedBy(graph, next.node.id).filter((each) => !next.above || above.has(each.id) || each.id === id);
    next.cycle = isAbove(next, next.node.id);
    next.again = shown.has(next.node.id) && owned.length > 0 && !next.cycle;
    if (next.cycle || next.again) continue;
    shown.add(next.node.id);
    const parent = next;
    next.children = owned.map((each, i) => line(each.id, parent, i + 1, owned.length));
    waiting.push(...[...next.children].reverse());
  }
  for (const each of all.reverse()) rollUp(each);
  return roots;
}

/**
 * Return the lines of a tree without those below closed ones.
 * @param {Line[]} roots
 * @param {ReadonlySet<string>} closed keys
 * @returns {Line[]}
 */
export function openLines(roots, closed) {
  const lines = [];
  const waiting = [...roots].reverse();
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    lines.push(next);
    if (!closed.has(next.key)) for (let i = next.children.length - 1; i >= 0; i--) waiting.push(next.children[i]);
  }
  return lines;
}

/**
 * Return a tree with only the lines that match, and those above them.
 * @param {Line[]} roots
 * @param {(node: Node) => boolean} matches
 * @returns {Line[]}
 */
export function matchingTree(roots, matches) {
  /** @type {Set<Line>} */
  const kept = new Set();
  for (const line of openLines(roots, new Set())) {
    if (!matches(line.node) && !line.self) continue;
    for (let each = /** @type {Line | null} */ (line); each && !kept.has(each); each = each.parent) kept.add(each);
  }
  const copy = (/** @type {Line} */ line, /** @type {number} */ i, /** @type {Line[]} */ list) => /** @type {Line} */ ({ ...line, position: i + 1, siblings: list.length });
  const result = roots.filter((line) => kept.has(line)).map(copy);
  const waiting = [...result];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const parent = next;
    next.children = next.children.filter((line) => kept.has(line)).map(copy);
    for (const each of next.children) each.parent = parent;
    waiting.push(...next.children);
  }
  return result;
}

/** @param {Line} line */
function rollUp(line) {
  line.problems = line.node.problem ? 1 : 0;
  for (const child of line.children) {
    if (rank(child.worst) < rank(line.worst)) line.worst = child.worst;
    line.problems += child.problems;
  }
}

/** @param {import("./graph.js").Graph} graph @param {string} id */
function ownersOf(graph, id) {
  const above = new Set();
  const tops = new Set();
  const waiting = [id];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const owners = (graph.into.get(next) ?? []).filter((edge) => edge.type === "owner" && edge.from !== next).map((edge) => edge.from);
    if (owners.length === 0) tops.add(next);
    for (const owner of owners) {
      if (above.has(owner)) continue;
      above.add(owner);
      waiting.push(owner);
    }
  }
  // Owners that own each other have no top.
  if (tops.size === 0) return { above: new Set(), tops: [id] };
  above.delete(id);
  return { above, tops: [...tops].sort() };
}

/** @param {import("./graph.js").Graph} graph @param {string} id @returns {Node[]} */
function ownedBy(graph, id) {
  const owned = (graph.out.get(id) ?? []).filter((edge) => edge.type === "owner");
  return owned.map((edge) => /** @type {Node} */ (graph.nodes.get(edge.to))).sort(byKindAndName);
}

/** @param {Node} a @param {Node} b */
function byKindAndName(a, b) {
  return compare(kindOf(a), kindOf(b)) || compare(a.namespace, b.namespace) || compare(a.name, b.name);
}

/** @param {Node} node */
function kindOf({ kindName, group }) {
  return group ? `${kindName}.${group}` : kindName;
}

/** @param {string} a @param {string} b */
function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** @param {Line} line @param {string} id */
function isAbove(line, id) {
  for (let each = line.parent; each; each = each.parent) if (each.node.id === id) return true;
  return false;
}
