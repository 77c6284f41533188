/** Positions of nodes. What was placed stays where it is; only new parts get a layout. It runs in a worker. */
import { Graph, layout } from "@dagrejs/dagre";
import { HEIGHT, WIDTH } from "./sizes.js";

const ACROSS = 84;
const DOWN = 14;
/** With more relations, only those of a forest decide the positions: the time of a layout grows with the others. */
const EDGES_MAX = 160;
const SEARCH_MAX = 600;

/**
 * @typedef {[number, number]} Point left and top
 * @typedef {Record<string, Point>} Positions
 * @typedef {{ nodes: string[], edges: [string, string][], previous: Positions }} LayoutRequest `edges`: the important ones first
 */

/**
 * @param {LayoutRequest} request
 * @returns {Positions}
 */
export function arrange({ nodes, edges, previous }) {
  const fresh = nodes.filter((id) => !Object.hasOwn(previous, id));
  /** @type {Positions} */
  const placed = {};
  for (const id of nodes) if (Object.hasOwn(previous, id)) placed[id] = previous[id];
  if (fresh.length === nodes.length) return dagre(nodes, edges);
  if (fresh.length === 0) return placed;
  const taken = new Columns(Object.values(placed));
  for (const part of partsOf(fresh, edges)) {
    const inside = new Set(part);
    const local = part.length === 1 ? { [part[0]]: /** @type {Point} */ ([0, 0]) } : dagre(part, edges.filter(([a, b]) => inside.has(a) && inside.has(b)));
    const [left, top] = anchor(local, edges, placed);
    const down = taken.free(Object.values(local).map(([x, y]) => [x + left, y + top]));
    for (const [id, [x, y]] of Object.entries(local)) {
      placed[id] = [x + left, y + top + down];
      taken.add(placed[id]);
    }
  }
  return placed;
}

/** @param {string[]} nodes @param {[string, string][]} edges @returns {Positions} */
function dagre(nodes, edges) {
  const graph = new Graph();
  const inside = new Set(nodes);
  const used = edges.filter(([from, to]) => inside.has(from) && inside.has(to));
  graph.setGraph({ rankdir: "LR", nodesep: DOWN, ranksep: ACROSS, ranker: used.length > EDGES_MAX ? "tight-tree" : "network-simplex" });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of nodes) graph.setNode(id, { width: WIDTH, height: HEIGHT });
  for (const [from, to] of used.length > EDGES_MAX ? forest(nodes, used) : used) graph.setEdge(from, to);
  layout(graph);
  return Object.fromEntries(
    nodes.map((id) => {
      const { x = 0, y = 0 } = /** @type {any} */ (graph.node(id));
      return [id, /** @type {Point} */ ([Math.round(x - WIDTH / 2), Math.round(y - HEIGHT / 2)])];
    }),
  );
}

/** Return edges without circles that connect the same nodes, the first ones first. @param {string[]} nodes @param {[string, string][]} edges */
function forest(nodes, edges) {
  const find = union(nodes);
  return edges.filter(([from, to]) => find.join(from, to));
}

/** Return the connected parts of some nodes. @param {string[]} nodes @param {[string, string][]} edges */
function partsOf(nodes, edges) {
  const find = union(nodes);
  const inside = new Set(nodes);
  for (const [from, to] of edges) if (inside.has(from) && inside.has(to)) find.join(from, to);
  /** @type {Map<string, string[]>} */
  const parts = new Map();
  for (const id of nodes) parts.set(find.root(id), [...(parts.get(find.root(id)) ?? []), id]);
  return [...parts.values()];
}

/** @param {string[]} nodes */
function union(nodes) {
  const parents = new Map(nodes.map((id) => [id, id]));
  const root = (/** @type {string} */ id) => {
    let each = id;
    for (let up = parents.get(each); up !== undefined && up !== each; up = parents.get(each)) {
      parents.set(each, parents.get(up) ?? up);
      each = up;
    }
    return each;
  };
  const join = (/** @type {string} */ a, /** @type {string} */ b) => {
    const [x, y] = [root(a), root(b)];
    if (x !== y) parents.set(x, y);
    return x !== y;
  };
  return { root, join };
}

/**
 * Return where a new part goes: next to the placed nodes that it has relations with, or below all.
 * @param {Positions} part
 * @param {[string, string][]} edges
 * @param {Positions} placed
 * @returns {Point}
 */
function anchor(part, edges, placed) {
  /** @type {Point[]} */
  const wishes = [];
  for (const [from, to] of edges) {
    if (part[to] && placed[from]) wishes.push([placed[from][0] + WIDTH + ACROSS - part[to][0], placed[from][1] - part[to][1]]);
    if (part[from] && placed[to]) wishes.push([placed[to][0] - WIDTH - ACROSS - part[from][0], placed[to][1] - part[from][1]]);
  }
  const all = Object.values(placed);
  if (wishes.length === 0) return [Math.min(...all.map(([x]) => x)), Math.max(...all.map(([, y]) => y)) + HEIGHT + DOWN * 2];
  const mean = wishes.reduce((sum, [, y]) => sum + y, 0) / wishes.length;
  // The first wish is the most important relation; its column keeps the order of owners.
  return [wishes[0][0], Math.round(mean)];
}

/** Places that are taken. */
class Columns {
  /** @param {Point[]} points */
  constructor(points) {
    this.points = [...points];
  }

  /** @param {Point} point */
  add(point) {
    this.points.push(point);
  }

  /** Return the smallest move down or up with which new points overlap no old one. @param {Point[]} fresh */
  free(fresh) {
    const step = HEIGHT + DOWN;
    for (let i = 0; i < SEARCH_MAX; i++) {
      const move = Math.ceil(i / 2) * (i % 2 ? 1 : -1) * step;
      if (!fresh.some(([x, y]) => this.points.some(([a, b]) => Math.abs(a - x) < WIDTH + DOWN && Math.abs(b - y - move) < step - 1))) return move;
    }
    return Math.max(...this.points.map(([, y]) => y)) + step;
  }
}
