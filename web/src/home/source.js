/** `HomeSource`: rows of the kinds on the overview, as far as the user may list them. Large kinds are read in part. */
import { signal } from "@preact/signals";
import { pause } from "../discovery/discovery.js";
import { apiPath } from "../discovery/kinds.js";
import { momentText } from "../past/moment.js";
import { readList } from "../past/read.js";
import { session } from "../session/session.js";
import { Reflector, TABLE } from "../table/reflector.js";
import { TableStore } from "../table/store.js";
import { StatusError } from "../transport/errors.js";
import { countIn, scopesOf } from "./counts.js";

/** A kind with more objects is counted, and its first objects are checked. */
const FOLLOWED_MAX = 1000;
const PART = 500;
/** Watches of the overview together; a stream has 100. */
const WATCHES_MAX = 60;
const AT_ONCE = 6;
const AGAIN_MS = 60_000;
/** Time in milliseconds in which changes are collected. */
const SETTLE_MS = 400;
/** What to read of a large kind: the objects that may have a problem. @type {Record<string, Record<string, string>>} */
const SELECTED = { pods: { fieldSelector: "status.phase!=Running,status.phase!=Succeeded" } };

/**
 * @typedef {{ kind: import("../discovery/kinds.js").Kind, store: TableStore, counted: number | null | undefined, partly: boolean }} KindState
 * `counted`: undefined until it is known; null if the user may list none. `partly`: not all objects are checked.
 */

export class HomeSource {
  /** @param {import("../discovery/kinds.js").Kind[]} kinds */
  constructor(kinds) {
    /** @type {KindState[]} */
    this.states = kinds.map((kind) => ({ kind, store: new TableStore(), counted: undefined, partly: false }));
    /** Increases after changes, at most a few times a second. */
    this.version = signal(0);
    /** Why the moment of the page cannot be shown. @type {import("@preact/signals").Signal<any>} */
    this.refused = signal(null);
    this.watches = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /** Read until the returned function is called. */
  start() {
    const stop = new AbortController();
    const waiting = [...this.states];
    const work = async () => {
      for (let next = waiting.shift(); next && !stop.signal.aborted; next = waiting.shift()) await this.#begin(next, stop.signal).catch((error) => this.#failed(error, stop.signal));
    };
    for (let i = 0; i < AT_ONCE; i++) work();
    const ends = this.states.map(({ store }) => store.version.subscribe(() => this.#changed()));
    return () => {
      stop.abort();
      clearTimeout(this.timer);
      for (const end of ends) end();
    };
  }

  /** @param {unknown} error @param {AbortSignal} stop */
  #failed(error, stop) {
    if (!stop.aborted && error instanceof StatusError) this.refused.value = error;
  }

  #changed() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.version.value++;
    }, SETTLE_MS);
  }

  /**
   * @param {KindState} state
   * @param {AbortSignal} stop
   */
  async #begin(state, stop) {
    const { kind } = state;
    const scopes = await scopesOf(kind, stop);
    const counts = scopes === null ? [null] : await Promise.all(scopes.map((each) => countIn(kind, each, stop)));
    state.counted = counts.includes(null) ? null : counts.reduce((/** @type {number} */ sum, each) => sum + Number(each), 0);
    this.#changed();
    if (scopes === null || state.counted === null) {
      // An administrator may grant the right in the meantime.
      pause(AGAIN_MS, stop).then(() => (stop.aborted ? undefined : this.#begin(state, stop))).catch(() => {});
      return;
    }
    const fits = state.counted <= FOLLOWED_MAX && kind.verbs.includes("watch") && this.watches + scopes.length <= WATCHES_MAX;
    if (!fits) {
      state.partly = state.counted > PART;
      this.#readAgain(state, scopes, stop);
      return;
    }
    this.watches += scopes.length;
    for (const scope of scopes) {
      const { transport, connection } = session;
      const onListed = () => {
        state.counted = undefined;
      };
      const onRefused = (/** @type {any} */ error) => error?.code === 410 && momentText.peek() && this.#failed(error, stop);
      new Reflector({ transport, connection, path: apiPath(kind, scope), accept: TABLE, store: state.store, onListed, onRefused }).run(stop).catch(() => {});
    }
  }

  /**
   * Read the first objects from time to time.
   * @param {KindState} state
   * @param {string[]} scopes
   * @param {AbortSignal} stop
   */
  async #readAgain({ kind, store, partly }, scopes, stop) {
    const parameters = { ...(partly ? SELECTED[kind.plural] : {}), limit: String(PART) };
    while (!stop.aborted) {
      for (const scope of document.hidden ? [] : scopes) {
        const generation = store.begin();
        const path = apiPath(kind, scope);
        const page = await readList(path, parameters, { accept: TABLE, signal: stop }).catch(() => null);
        if (page === null) continue;
        store.addPage(path, page, generation);
        store.finish(path, generation);
      }
      if (momentText.peek()) return;
      await pause(AGAIN_MS, stop);
    }
  }
}

/**
 * Return how many objects a kind has; undefined until that is known, null if the user may list none.
 * @param {KindState} state
 */
export function countOf(state) {
  return state.counted === undefined && state.store.columns.peek().length ? state.store.rows.size : state.counted;
}
