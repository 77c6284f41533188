/** Keys of the graph: arrows go to the next object in a direction, and Shift moves the view. */

const MOVE = 80;
const ZOOM = 1.25;
/** @type {Record<string, [number, number]>} */
const DIRECTIONS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

/**
 * Return the handler of keys.
 * @param {{ model: import("./model.js").RelationsModel, arrangement: import("./arrangement.js").Arrangement, viewport: import("./viewport.js").Viewport,
 *   current: () => string, focus: (id: string) => void,
 *   actions: { press: (drawn: import("./fold.js").Drawn) => void, path: (id: string) => void, clear: () => void, follow: (node: import("./graph.js").Node) => void } }} options
 * @returns {(event: KeyboardEvent) => void}
 */
export function graphKeys({ model, arrangement, viewport, current, focus, actions }) {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !/** @type {Element} */ (event.target).closest(".graph-svg")) return;
    const id = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-node]"))?.dataset.node ?? current();
    const drawn = arrangement.drawn.peek().nodes.find((each) => each.id === id);
    const direction = DIRECTIONS[event.key];
    /** @type {Record<string, (() => void) | undefined>} */
    const keys = {
      Enter: drawn && (() => actions.press(drawn)),
      " ": drawn && (() => actions.press(drawn)),
      p: drawn && drawn.count === 1 ? () => actions.path(drawn.id) : undefined,
      o: drawn && drawn.count === 1 ? () => actions.follow(drawn.node) : undefined,
      "+": () => viewport.zoom(ZOOM),
      "=": () => viewport.zoom(ZOOM),
      "-": () => viewport.zoom(1 / ZOOM),
      0: () => viewport.fit(),
      Home: () => focus(model.root),
      Escape: model.selected.peek() || model.from.peek() ? () => actions.clear() : undefined,
    };
    const run = direction ? () => (event.shiftKey ? viewport.move(-direction[0] * MOVE, -direction[1] * MOVE) : focus(nextIn(direction, id, arrangement))) : keys[event.key];
    if (!run) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  };
}

/**
 * Return the nearest node in a direction; one that has a relation with the present one first.
 * @param {[number, number]} direction
 * @param {string} id
 * @param {import("./arrangement.js").Arrangement} arrangement
 */
function nextIn([right, down], id, arrangement) {
  const { nodes, edges, positions } = arrangement.drawn.peek();
  const here = positions[id];
  if (!here) return nodes[0]?.id ?? id;
  const near = new Set(edges.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : [])));
  let best = id;
  let least = Infinity;
  for (const each of nodes) {
    const [x, y] = positions[each.id] ?? here;
    const along = (x - here[0]) * right + (y - here[1]) * down;
    if (each.id === id || along <= 0) continue;
    const aside = Math.abs((x - here[0]) * down) + Math.abs((y - here[1]) * right);
    const far = along + aside * (right ? 1.500 : 4) + (right && !near.has(each.id) ? 5000 : 0);
    if (far < least) [least, best] = [far, each.id];
  }
  return best;
}
