/** `Arrangement`: positions of the drawn nodes. Changes of the graph keep what is placed; new parts are placed by the worker. */
import { computed, effect, signal } from "@preact/signals";
import { Layouts } from "./layouts.js";

/** Order in which relations decide positions. @type {Record<string, number>} */
const WEIGHTS = { owner: 0, selector: 1, field: 2 };
/** Name of the measure of each layout in the browser's performance entries. */
const MEASURE = "sampan relations layout";

/** @typedef {{ nodes: import("./fold.js").Drawn[], edges: import("./fold.js").DrawnEdge[], positions: import("./layout.js").Positions }} Placed */

export class Arrangement {
  /** @param {import("./model.js").RelationsModel} model */
  constructor(model) {
    this.model = model;
    /** What is drawn: nodes with positions only. @type {import("@preact/signals").Signal<Placed>} */
    this.drawn = signal({ nodes: [], edges: [], positions: {} });
    this.ready = signal(false);
    /** Changes with the question that the graph answers: then all of it is arranged. */
    this.subject = computed(() => [model.text.value, model.problemsOnly.value, model.wide.value].join(" "));
    this.arranged = "";
    this.turn = signal(0);
    this.layouts = /** @type {Layouts | null} */ (null);
  }

  /** Follow the model until the returned function is called. */
  start() {
    this.layouts = new Layouts();
    const end = effect(() => this.#follow(`${this.subject.value} ${this.turn.value}`, this.model.folded.value));
    return () => {
      end();
      this.layouts?.end();
    };
  }

  /** Arrange everything again. */
  again() {
    this.turn.value++;
  }

  /** @param {string} subject @param {import("./fold.js").Folded} folded */
  #follow(subject, folded) {
    const previous = subject === this.arranged ? this.drawn.peek().positions : {};
    const nodes = folded.nodes.map(({ id }) => id);
    const show = (/** @type {import("./layout.js").Positions} */ positions) => {
      this.arranged = subject;
      this.drawn.value = keeping(this.drawn.peek(), { nodes: folded.nodes, edges: folded.edges, positions });
      this.ready.value = true;
    };
    if (nodes.every((id) => Object.hasOwn(previous, id))) {
      this.layouts?.forget();
      show(Object.fromEntries(nodes.map((id) => [id, previous[id]])));
      return;
    }
    const edges = [...folded.edges].sort((a, b) => WEIGHTS[a.type] - WEIGHTS[b.type]).map(({ from, to }) => /** @type {[string, string]} */ ([from, to]));
    this.layouts?.request({ nodes, edges, previous }, ({ positions, ms }) => {
      performance.measure(MEASURE, { start: performance.now() - ms, duration: ms, detail: { nodes: nodes.length, edges: edges.length } });
      show(positions);
    });
  }
}

/**
 * Return what to draw, with the objects that are drawn where they are equal: these are not drawn again.
 * @param {Placed} before
 * @param {Placed} next
 * @returns {Placed}
 */
function keeping(before, next) {
  const nodes = new Map(before.nodes.map((each) => [each.id, each]));
  const edges = new Map(before.edges.map((each) => [each.id, each]));
  const same = new Set();
  const nodeOf = (/** @type {import("./fold.js").Drawn} */ drawn) => {
    const present = nodes.get(drawn.id);
    if (present?.node !== drawn.node || present.count !== 1 || drawn.count !== 1) return drawn;
    same.add(drawn.id);
    return present;
  };
  // The reason of a line names its ends, and the number of objects in a group.
  const edgeOf = (/** @type {import("./fold.js").DrawnEdge} */ edge) => {
    const present = edges.get(edge.id);
    return present && same.has(edge.from) && same.has(edge.to) && present.count === edge.count && present.why.join() === edge.why.join() ? present : edge;
  };
  const pointOf = (/** @type {string} */ id, /** @type {import("./layout.js").Point} */ point) => {
    const present = before.positions[id];
    return present?.[0] === point[0] && present[1] === point[1] ? present : point;
  };
  const positions = Object.fromEntries(Object.entries(next.positions).map(([id, point]) => [id, pointOf(id, point)]));
  return { nodes: next.nodes.map(nodeOf), edges: next.edges.map(edgeOf), positions };
}
