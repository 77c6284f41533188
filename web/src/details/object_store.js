/** `ObjectStore`: whole objects of a list, for the details of one object and for its events. */
import { signal } from "@preact/signals";

/** Deleted objects that a page keeps, at most. */
const DELETED_MAX = 200;

export class ObjectStore {
  constructor() {
    /** @type {import("@preact/signals").Signal<Map<string, any>>} */
    this.objects = signal(new Map());
    /** Last states of deleted objects. @type {import("@preact/signals").Signal<Map<string, any>>} */
    this.deleted = signal(new Map());
    /** When this page learned of each deletion, in milliseconds. @type {Map<string, number>} */
    this.deletedAt = new Map();
    /** @type {Map<string, any>} */
    this.pages = new Map();
    this.generation = 0;
    /** @type {import("../table/store.js").WatchEvent[]} */
    this.queue = [];
  }

  begin() {
    this.pages = new Map();
    return ++this.generation;
  }

  /**
   * @param {string} _scope
   * @param {any} list
   */
  addPage(_scope, list) {
    const kind = String(list.kind ?? "").replace(/List$/, "");
    for (const item of list.items ?? []) {
      this.pages.set(item.metadata.uid, { apiVersion: list.apiVersion, kind, ...item });
    }
  }

  finish() {
    const gone = [...this.objects.peek().values()].filter(({ metadata }) => !this.pages.has(metadata.uid));
    this.#keep(gone);
    this.objects.value = this.pages;
  }

  /**
   * Keep the last states of deleted objects, the newest ones.
   * @param {any[]} objects
   */
  #keep(objects) {
    if (objects.length === 0) return;
    const kept = new Map(this.deleted.peek());
    for (const object of objects) {
      kept.set(object.metadata.uid, object);
      this.deletedAt.set(object.metadata.uid, Date.now());
    }
    for (const uid of [...kept.keys()].slice(0, -DELETED_MAX)) {
      kept.delete(uid);
      this.deletedAt.delete(uid);
    }
    this.deleted.value = kept;
  }

  /**
   * @param {string} _scope
   * @param {import("../table/store.js").WatchEvent[]} events
   */
  enqueue(_scope, events) {
    this.queue.push(...events);
    if (this.queue.length === events.length) setTimeout(() => this.#flush(), 50);
  }

  #flush() {
    const objects = new Map(this.objects.peek());
    const deleted = [];
    for (const { type, object } of this.queue) {
      const uid = object?.metadata?.uid;
      if (!uid) continue;
      if (type === "DELETED") {
        objects.delete(uid);
        deleted.push(object);
      } else {
        objects.set(uid, object);
      }
    }
    this.queue = [];
    this.#keep(deleted);
    this.objects.value = objects;
  }
}
