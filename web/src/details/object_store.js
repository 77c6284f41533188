/** `ObjectStore`: whole objects of a list, for the details of one object and for its events. */
import { signal } from "@preact/signals";

export class ObjectStore {
  constructor() {
    /** @type {import("@preact/signals").Signal<Map<string, any>>} */
    this.objects = signal(new Map());
    /** Last states of deleted objects. @type {import("@preact/signals").Signal<Map<string, any>>} */
    this.deleted = signal(new Map());
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
    this.objects.value = this.pages;
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
    for (const { type, object } of this.queue) {
      const uid = object?.metadata?.uid;
      if (!uid) continue;
      if (type === "DELETED") {
        objects.delete(uid);
        this.deleted.value = new Map(this.deleted.peek()).set(uid, object);
      } else {
        objects.set(uid, object);
      }
    }
    this.queue = [];
    this.objects.value = objects;
  }
}
