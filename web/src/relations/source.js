/**
 * `RelationsSource`: the objects around an object. Each kind is read once, then watched as far as the bound permits; the
 * others are read again from time to time.
 */
import { signal } from "@preact/signals";
import { pause } from "../discovery/discovery.js";
import { apiPath, isBuiltIn } from "../discovery/kinds.js";
import { healthWith } from "../health/row_health.js";
import { moment } from "../past/moment.js";
import { readList } from "../past/read.js";
import { mayList } from "../rights/access.js";
import { session } from "../session/session.js";
import { Reflector, TABLE } from "../table/reflector.js";
import { now } from "../time/clock.js";
import { StatusError } from "../transport/errors.js";
import { RelationStore, TooManyObjects } from "./relation_store.js";

/** Objects of all kinds together. */
const OBJECTS_MAX = 20_000;
/** Watches of the view; a stream has 100, and the page of the object needs some of them. */
const WATCHES_MAX = 32;
const AT_ONCE = 4;
const PAGE = 250;
const AGAIN_MS = 30_000;
/** Time in milliseconds in which changes are collected. */
const SETTLE_MS = 250;
/** Kinds that point to nothing: of them only the metadata is read, so that no value of a Secret reaches the page. */
const LEAVES = new Set(["configmaps.", "secrets.", "leases.coordination.k8s.io", "customresourcedefinitions.apiextensions.k8s.io", "namespaces.", "nodes."]);
/** Kinds of the cluster that objects of a namespace have relations with. */
const CLUSTER = new Set("nodes persistentvolumes storageclasses ingressclasses priorityclasses runtimeclasses clusterroles clusterrolebindings volumeattachments".split(" "));
const IGNORED = new Set(["events.", "events.events.k8s.io", "componentstatuses."]);

/**
 * @typedef {import("../discovery/kinds.js").Kind} Kind
 * @typedef {{ kind: Kind, store: RelationStore, read: boolean, refused: boolean, revision: string, watched: boolean }} KindState
 * @typedef {{ kind: Kind, row: import("../table/store.js").Row, links: import("./pointers.js").Links, health: import("../health/row_health.js").Health }} Item
 */

export class RelationsSource {
  /**
   * @param {Kind} kind
   * @param {string} namespace namespace to read; empty: all
   * @param {string} name of the object
   */
  constructor(kind, namespace, name) {
    this.node = kind.plural === "nodes" && kind.group === "" ? name : "";
    this.namespace = kind.plural === "namespaces" && kind.group === "" ? name : namespace;
    this.budget = { left: OBJECTS_MAX };
    /** @type {KindState[]} */
    this.states = this.#kinds().map((each) => ({ kind: each, store: new RelationStore(each, this.budget), read: false, refused: false, revision: "", watched: false }));
    /** Increases after changes, at most a few times a second. */
    this.version = signal(0);
    this.done = signal(0);
    this.loaded = signal(this.states.length === 0);
    this.cut = signal(false);
    this.watches = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /** Read until the returned function is called. */
  start() {
    const stop = new AbortController();
    this.#all(stop.signal).catch(() => {});
    const ends = this.states.map(({ store }) => store.version.subscribe(() => this.#changed()));
    return () => {
      stop.abort();
      clearTimeout(this.timer);
      for (const end of ends) end();
    };
  }

  /** Kinds that the user may not list. */
  get unread() {
    return this.states.filter((each) => each.refused).map((each) => each.kind);
  }

  /**
   * Return whether all objects of a kind are known, so that one that is not among them does not exist.
   * @param {Kind} kind
   * @param {string} namespace
   */
  knows(kind, namespace) {
    const state = this.states.find((each) => each.kind === kind);
    if (!state?.read || this.cut.peek() || (this.node && kind.plural === "pods")) return false;
    return !kind.namespaced || !this.namespace || namespace === this.namespace;
  }

  /** @returns {Item[]} */
  items() {
    const nowMs = now.peek();
    return this.states.flatMap(({ kind, store }) => {
      const healthOf = healthWith(store.columns.peek());
      return [...store.rows.values()].map((row) => ({ kind, row, links: store.linksOf(row.uid), health: healthOf(row, nowMs) }));
    });
  }

  #kinds() {
    const all = session.discovery.kinds.peek().filter((kind) => kind.group !== "metrics.k8s.io" && !IGNORED.has(`${kind.plural}.${kind.group}`));
    if (!this.namespace) return all;
    return all.filter((kind) => kind.namespaced || CLUSTER.has(kind.plural) || !isBuiltIn(kind.group));
  }

  #changed() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.version.value++;
    }, SETTLE_MS);
  }

  /** @param {AbortSignal} stop */
  async #all(stop) {
    await this.#each(this.states, stop, (state) => this.#begin(state, stop));
    this.version.value++;
    this.loaded.value = true;
    while (!stop.aborted && !moment.peek()) {
      const unwatched = this.states.filter((each) => !each.watched);
      // Kinds with objects first: for the others, a new object is seen later.
      const watchable = unwatched.filter((each) => each.read && each.kind.verbs.includes("watch")).sort((a, b) => b.store.rows.size - a.store.rows.size);
      for (const each of watchable.slice(0, WATCHES_MAX - this.watches)) this.#watch(each, stop);
      await pause(AGAIN_MS, stop);
      const rest = this.states.filter((each) => !each.watched);
      if (!document.hidden && !this.cut.peek()) await this.#each(rest, stop, (state) => this.#begin(state, stop));
    }
  }

  /** @param {KindState[]} states @param {AbortSignal} stop @param {(state: KindState) => Promise<void>} run */
  async #each(states, stop, run) {
    const waiting = [...states];
    const work = async () => {
      for (let next = waiting.shift(); next && !stop.aborted; next = waiting.shift()) await run(next);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  /** @param {KindState} state @param {AbortSignal} stop */
  #watch(state, stop) {
    const { kind, store } = state;
    this.watches++;
    state.watched = true;
    const path = apiPath(kind, kind.namespaced ? this.namespace : "");
    const options = { transport: session.transport, connection: session.connection, path, accept: TABLE, selectors: this.#selectors(kind), store };
    const reflector = new Reflector(options);
    reflector.revision = state.revision;
    reflector.run(stop).catch((error) => this.#failed(state, error));
  }

  /** @param {KindState} state @param {AbortSignal} stop */
  async #begin(state, stop) {
    const { kind, store } = state;
    const path = apiPath(kind, kind.namespaced ? this.namespace : "");
    const selectors = this.#selectors(kind);
    const first = !state.read && !state.refused;
    try {
      if (this.budget.left <= 0) throw new TooManyObjects(kind.plural);
      if (!(await mayList(kind, kind.namespaced ? this.namespace : ""))) throw new StatusError(403, {});
      const revision = await this.#read(store, path, selectors, stop);
      state.read = true;
      state.refused = false;
      state.revision = revision;
    } catch (error) {
      if (!stop.aborted) this.#failed(state, error);
    }
    if (first) this.done.value++;
  }

  /** @param {KindState} state @param {unknown} error */
  #failed(state, error) {
    if (error instanceof TooManyObjects) this.cut.value = true;
    else if (error instanceof StatusError) state.refused = error.code === 403;
  }

  /** @param {RelationStore} store @param {string} path @param {Record<string, string>} selectors @param {AbortSignal} stop */
  async #read(store, path, selectors, stop) {
    const generation = store.begin();
    for (let next = ""; ; ) {
      const parameters = { ...selectors, limit: String(PAGE) };
      const options = { accept: TABLE, signal: stop };
      const page = await (next ? session.transport.json(`${path}?${new URLSearchParams({ ...parameters, continue: next })}`, options) : readList(path, parameters, options));
      store.addPage(path, page, generation);
      next = page.metadata?.continue ?? "";
      if (!next) {
        store.finish(path, generation);
        return page.metadata?.resourceVersion ?? "";
      }
    }
  }

  /** @param {Kind} kind @returns {Record<string, string>} */
  #selectors(kind) {
    const id = `${kind.plural}.${kind.group}`;
    return {
      ...(LEAVES.has(id) ? {} : { includeObject: "Object" }),
      ...(this.node && id === "pods." ? { fieldSelector: `spec.nodeName=${this.node}` } : {}),
    };
  }
}
