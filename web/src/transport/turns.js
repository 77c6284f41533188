/**
 * `Turns`: a browser opens six connections to a server of HTTP/1.1. Without the stream of the server, watches take turns,
 * so that some connections stay free for other requests. With HTTP/2 there is no limit.
 */

const AT_ONCE = 4;
const TURN_MS = 2000;

/** @typedef {{ stop: AbortController, over: boolean }} Turn */

export class Turns {
  /** @param {boolean} limited */
  constructor(limited) {
    this.limited = limited;
    /** @type {Set<Turn>} */
    this.running = new Set();
    /** @type {((turn: Turn) => void)[]} */
    this.waiting = [];
  }

  /**
   * Run a watch when it is its turn. It returns early if others wait; the caller continues from its last revision.
   * @param {AbortSignal} signal
   * @param {(signal: AbortSignal) => Promise<void>} watch
   */
  async run(signal, watch) {
    const turn = await this.#take();
    const abort = () => turn.stop.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    const timer = setInterval(() => this.waiting.length && this.#end(turn), TURN_MS);
    try {
      await watch(turn.stop.signal);
    } catch (error) {
      if (!turn.over || signal.aborted) throw error;
    } finally {
      clearInterval(timer);
      signal.removeEventListener("abort", abort);
      this.running.delete(turn);
      this.#next();
    }
  }

  /** @returns {Promise<Turn>} */
  #take() {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.#next();
    });
  }

  #next() {
    while (this.waiting.length && (!this.limited || this.running.size < AT_ONCE)) {
      const turn = { stop: new AbortController(), over: false };
      this.running.add(turn);
      this.waiting.shift()?.(turn);
    }
  }

  /** @param {Turn} turn */
  #end(turn) {
    turn.over = true;
    turn.stop.abort();
  }
}

/** Return whether the page came over HTTP/1.1. */
export function hasFewConnections() {
  const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
  return (navigation?.nextHopProtocol ?? "http/1.1").startsWith("http/1");
}
