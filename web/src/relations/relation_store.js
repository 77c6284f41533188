/** `RelationStore`: rows of a kind, and what each object points to. The objects themselves are dropped. */
import { TableStore } from "../table/store.js";
import { NO_LINKS, linksOf } from "./pointers.js";

/** There are more objects than the page reads. */
export class TooManyObjects extends Error {}

export class RelationStore extends TableStore {
  /**
   * @param {import("../discovery/kinds.js").Kind} kind
   * @param {{ left: number }} budget objects that may still be read, of all kinds together
   */
  constructor(kind, budget) {
    super();
    this.kind = kind;
    this.budget = budget;
    /** @type {Map<string, import("./pointers.js").Links>} */
    this.links = new Map();
  }

  /**
   * Add a page of a list. Raises `TooManyObjects`.
   * @param {string} scope
   * @param {any} table
   * @param {number} generation
   */
  addPage(scope, table, generation) {
    const before = this.rows.size;
    for (const row of table.rows ?? []) this.#link(row.object);
    super.addPage(scope, table, generation);
    this.budget.left -= this.rows.size - before;
    if (this.budget.left <= 0) throw new TooManyObjects(this.kind.plural);
  }

  /**
   * @param {string} scope
   * @param {import("../table/store.js").WatchEvent[]} events
   */
  enqueue(scope, events) {
    for (const { type, object } of events) {
      for (const row of object?.rows ?? []) {
        if (type === "DELETED") this.links.delete(row.object?.metadata?.uid);
        else this.#link(row.object);
      }
    }
    super.enqueue(scope, events);
  }

  /** @param {string} uid */
  linksOf(uid) {
    return this.links.get(uid) ?? NO_LINKS;
  }

  /** @param {any} object */
  #link(object) {
    const uid = object?.metadata?.uid;
    if (!uid) return;
    const links = linksOf(this.kind, object);
    if (links.pointers.length || links.selections.length) this.links.set(uid, links);
    else this.links.delete(uid);
  }
}
