/** `Related`: what an object owns, at every depth, and the events of all of it. */
import { computed, effect, signal } from "@preact/signals";
import { apiPath, isBuiltIn } from "../discovery/kinds.js";
import { healthWith } from "../health/row_health.js";
import { mayList } from "../rights/access.js";
import { session } from "../session/session.js";
import { Reflector, TABLE } from "../table/reflector.js";
import { TableStore } from "../table/store.js";
import { now } from "../time/clock.js";
import { ObjectStore } from "./object_store.js";

/** Kinds that other kinds own, besides the custom ones of the same group. */
const OWNED = "replicasets pods jobs statefulsets deployments services configmaps secrets persistentvolumeclaims controllerrevisions".split(" ");
/** Resources that own nothing, so that nothing is read for them. */
const LEAVES = new Set("configmaps secrets events namespaces nodes roles rolebindings clusterroles clusterrolebindings serviceaccounts leases".split(" "));
const KINDS_MAX = 16;

/**
 * @typedef {{ kind: import("../discovery/kinds.js").Kind, row: import("../table/store.js").Row, depth: number,
 *   health: import("../health/row_health.js").Health, status: string }} Owned
 */

export class Related {
  /**
   * @param {import("../discovery/kinds.js").Kind} kind
   * @param {string} namespace
   * @param {import("@preact/signals").ReadonlySignal<any>} object
   */
  constructor(kind, namespace, object) {
    this.kind = kind;
    this.namespace = namespace;
    this.object = object;
    this.events = new ObjectStore();
    /** Why there are no events. @type {import("@preact/signals").Signal<any>} */
    this.eventsRefused = signal(null);
    /** @type {import("@preact/signals").Signal<{ kind: import("../discovery/kinds.js").Kind, store: TableStore }[]>} */
    this.stores = signal([]);
    this.owned = computed(() => this.#owned());
    this.shownEvents = computed(() => this.#events());
    this.warnings = computed(() => this.shownEvents.value.filter((event) => event.type === "Warning").length);
  }

  /** Read until the returned function is called. */
  start() {
    const stop = new AbortController();
    const shared = { transport: session.transport, connection: session.connection };
    const stores = this.#kinds().map((kind) => ({ kind, store: new TableStore() }));
    this.stores.value = stores;
    let begun = false;
    // The object first: what is around it follows.
    const end = effect(() => {
      if (begun || !this.object.value) return;
      begun = true;
      for (const { kind, store } of stores) {
        const path = apiPath(kind, this.namespace);
        // Without the right to list a kind, nothing of it is shown.
        const read = new Reflector({ ...shared, path, accept: TABLE, store });
        mayList(kind, this.namespace).then((may) => (may && !stop.signal.aborted ? read.run(stop.signal) : undefined)).catch(() => {});
      }
      const event = { group: "", version: "v1", plural: "events" };
      const path = apiPath(event, this.namespace);
      const selectors = stores.length ? undefined : { fieldSelector: `involvedObject.name=${this.object.peek().metadata.name}` };
      const onRefused = (/** @type {any} */ error) => (this.eventsRefused.value = error);
      new Reflector({ ...shared, path, accept: "application/json", store: this.events, selectors, onRefused }).run(stop.signal).catch(() => {});
    });
    return () => {
      end();
      stop.abort();
    };
  }

  #kinds() {
    if (!this.namespace || LEAVES.has(this.kind.plural)) return [];
    if (this.kind.plural === "pods" && this.kind.group === "") return [];
    const custom = !isBuiltIn(this.kind.group);
    const all = session.discovery.kinds.peek().filter((kind) => kind.namespaced && kind.verbs.includes("watch"));
    const builtIn = all.filter((kind) => OWNED.includes(kind.plural) && !kind.group.includes("."));
    const few = custom ? builtIn : builtIn.filter((kind) => ["replicasets", "pods", "jobs", "persistentvolumeclaims", "controllerrevisions"].includes(kind.plural));
    const siblings = custom ? all.filter((kind) => kind.group === this.kind.group && kind.plural !== this.kind.plural) : [];
    return [...siblings, ...few].slice(0, KINDS_MAX);
  }

  /** @returns {Owned[]} */
  #owned() {
    const object = this.object.value;
    if (!object) return [];
    /** @type {Map<string, { kind: import("../discovery/kinds.js").Kind, row: import("../table/store.js").Row, store: TableStore }[]>} */
    const children = new Map();
    for (const { kind, store } of this.stores.value) {
      store.version.value;
      for (const row of store.rows.values()) {
        for (const owner of row.metadata.ownerReferences ?? []) {
          children.set(owner.uid, [...(children.get(owner.uid) ?? []), { kind, row, store }]);
        }
      }
    }
    /** @type {Owned[]} */
    const found = [];
    const visited = new Set();
    const visit = (/** @type {string} */ uid, /** @type {number} */ depth) => {
      for (const { kind, row, store } of (children.get(uid) ?? []).sort(byAge)) {
        if (visited.has(row.uid)) continue;
        visited.add(row.uid);
        const health = healthWith(store.columns.value)(row, now.peek());
        found.push({ kind, row, depth, health, status: health.text });
        visit(row.uid, depth + 1);
      }
    };
    visit(object.metadata.uid, 0);
    return found;
  }

  #events() {
    const uid = this.object.value?.metadata.uid;
    const uids = new Set([uid, ...this.owned.value.map((each) => each.row.uid)]);
    const name = this.object.value?.metadata.name;
    return [...this.events.objects.value.values()].filter((event) => {
      const about = event.involvedObject ?? {};
      return uids.has(about.uid) || (about.uid === name && about.kind === this.kind.kind);
    });
  }
}

/**
 * @param {{ row: import("../table/store.js").Row }} a
 * @param {{ row: import("../table/store.js").Row }} b
 */
function byAge(a, b) {
  return (b.row.metadata.creationTimestamp ?? "").localeCompare(a.row.metadata.creationTimestamp ?? "");
}
