/** `Viewport`: which part of the graph is visible, and at what size. */
import { computed, signal } from "@preact/signals";
import { HEIGHT, WIDTH } from "./sizes.js";

const SCALE_MIN = 0.02;
const SCALE_MAX = 2;
/** Below this size names are not legible, and nodes are drawn without them. */
const LEGIBLE = 0.42;
const MARGIN = 24;
/** Steps in pixels in which the drawn part grows, so that moving does not draw each frame. */
const STEP = 400;
const DRAG_MIN = 4;

export class Viewport {
  /** @param {import("./arrangement.js").Arrangement} arrangement */
  constructor(arrangement) {
    this.arrangement = arrangement;
    this.view = signal({ x: 0, y: 0, k: 1 });
    this.size = signal({ width: 800, height: 500 });
    this.transform = computed(() => `translate(${this.view.value.x} ${this.view.value.y}) scale(${this.view.value.k})`);
    this.legible = computed(() => this.view.value.k >= LEGIBLE);
    this.key = computed(() => this.#bounds().join(" "));
    this.begun = false;
    this.root = "";
  }

  /** Follow the pointer and the size of an element. Return a function that ends it. @param {HTMLDivElement} element @param {string} root */
  attach(element, root) {
    this.root = root;
    const resized = new ResizeObserver(() => this.#resize(element.clientWidth, element.clientHeight));
    resized.observe(element);
    const wheel = (/** @type {WheelEvent} */ event) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
      else this.move(-event.deltaX, -event.deltaY);
    };
    const down = (/** @type {PointerEvent} */ event) => this.#drag(element, event);
    element.addEventListener("wheel", wheel, { passive: false });
    element.addEventListener("pointerdown", down);
    return () => {
      resized.disconnect();
      element.removeEventListener("wheel", wheel);
      element.removeEventListener("pointerdown", down);
    };
  }

  /** Keep the middle of the view in the middle. @param {number} width @param {number} height */
  #resize(width, height) {
    const before = this.size.peek();
    this.size.value = { width, height };
    if (this.begun) this.move((width - before.width) / 2, (height - before.height) / 2);
  }

  /** Show the whole graph if it stays legible, otherwise the object; once. */
  begin() {
    if (this.begun) return;
    this.begun = true;
    this.fit();
    if (this.view.peek().k >= LEGIBLE + 0.2) return;
    this.view.value = { ...this.view.peek(), k: this.size.peek().width < 640 ? 0.8 : 1 };
    this.center(this.root);
  }

  /** @param {number} x @param {number} y in pixels of the window */
  move(x, y) {
    const { view } = this;
    view.value = { ...view.peek(), x: view.peek().x + x, y: view.peek().y + y };
  }

  /** @param {number} factor @param {number} [x] @param {number} [y] place that stays, in pixels of the element */
  zoom(factor, x = this.size.peek().width / 2, y = this.size.peek().height / 2) {
    const { x: left, y: top, k } = this.view.peek();
    const next = Math.min(SCALE_MAX, Math.max(SCALE_MIN, k * factor));
    this.view.value = { k: next, x: x - ((x - left) * next) / k, y: y - ((y - top) * next) / k };
  }

  /** Show the whole graph. */
  fit() {
    const points = Object.values(this.arrangement.drawn.peek().positions);
    if (points.length === 0) return;
    const [left, top] = [Math.min(...points.map(([x]) => x)), Math.min(...points.map(([, y]) => y))];
    const right = Math.max(...points.map(([x]) => x)) + WIDTH;
    const bottom = Math.max(...points.map(([, y]) => y)) + HEIGHT;
    const { width, height } = this.size.peek();
    const k = Math.max(SCALE_MIN, Math.min(1, (width - 2 * MARGIN) / (right - left), (height - 2 * MARGIN) / (bottom - top)));
    this.view.value = { k, x: (width - (right - left) * k) / 2 - left * k, y: (height - (bottom - top) * k) / 2 - top * k };
  }

  /** Move a node to the middle. @param {string} id */
  center(id) {
    const point = this.arrangement.drawn.peek().positions[id];
    if (!point) return;
    const { k } = this.view.peek();
    const { width, height } = this.size.peek();
    this.view.value = { k, x: width / 2 - (point[0] + WIDTH / 2) * k, y: height / 2 - (point[1] + HEIGHT / 2) * k };
  }

  /** Move only if a node is not visible. @param {string} id */
  reveal(id) {
    const point = this.arrangement.drawn.peek().positions[id];
    if (!point) return;
    const { x, y, k } = this.view.peek();
    const { width, height } = this.size.peek();
    const [left, top] = [point[0] * k + x, point[1] * k + y];
    if (left < MARGIN || top < MARGIN || left + WIDTH * k > width - MARGIN || top + HEIGHT * k > height - MARGIN) this.center(id);
  }

  /** Return whether a box is in the drawn part. @param {number} left @param {number} top @param {number} right @param {number} bottom */
  shows(left, top, right, bottom) {
    const [x, y, x2, y2] = this.#bounds();
    return right >= x && left <= x2 && bottom >= y && top <= y2;
  }

  #bounds() {
    const { x, y, k } = this.view.value;
    const { width, height } = this.size.value;
    const low = (/** @type {number} */ value) => (Math.floor(value / STEP) - 0.5) * STEP;
    const high = (/** @type {number} */ value) => (Math.ceil(value / STEP) + 0.5) * STEP;
    return [low(-x / k), low(-y / k), high((width - x) / k), high((height - y) / k)];
  }

  /** @param {HTMLDivElement} element @param {PointerEvent} event */
  #drag(element, event) {
    if (event.button !== 0 || /** @type {Element} */ (event.target).closest("button")) return;
    let [x, y] = [event.clientX, event.clientY];
    let moved = false;
    const move = (/** @type {PointerEvent} */ each) => {
      if (!moved && Math.hypot(each.clientX - x, each.clientY - y) < DRAG_MIN) return;
      if (!moved) element.setPointerCapture(each.pointerId);
      moved = true;
      this.move(each.clientX - x, each.clientY - y);
      [x, y] = [each.clientX, each.clientY];
    };
    const end = () => {
      element.removeEventListener("pointermove", move);
      element.removeEventListener("pointerup", end);
      element.removeEventListener("pointercancel", end);
      if (!moved) return;
      // The click after a move chooses nothing.
      const ignore = (/** @type {MouseEvent} */ each) => each.stopPropagation();
      element.addEventListener("click", ignore, { capture: true });
      setTimeout(() => element.removeEventListener("click", ignore, { capture: true }));
    };
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
  }
}
