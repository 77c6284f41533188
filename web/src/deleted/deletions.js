/** `Deletions`: objects of a kind that were deleted, in all chosen namespaces, as far back as the server keeps history. */
import { batch, signal } from "@preact/signals";
import { apiPath } from "../discovery/kinds.js";
import { readChanges } from "../history/records.js";
import { allowedNamespaces } from "../lists/namespaces.js";
import { historyEnd } from "../past/read.js";
import { session } from "../session/session.js";

const SCOPES_MAX = 20;
const DELETIONS_MAX = 5000;

/** @typedef {import("../history/records.js").Change} Change */

export class Deletions {
  /**
   * @param {import("../discovery/kinds.js").Kind} kind
   * @param {string[]} chosen namespaces; empty: all
   */
  constructor(kind, chosen) {
    this.kind = kind;
    this.chosen = chosen;
    /** The newest first. @type {import("@preact/signals").Signal<Change[]>} */
    this.all = signal([]);
    this.loading = signal(false);
    this.loaded = signal(false);
    /** Whether an older page exists. */
    this.more = signal(true);
    /** Whether the server has removed older ones. */
    this.removed = signal(false);
    /** @type {import("@preact/signals").Signal<any>} */
    this.failed = signal(null);
    /** Where each namespace continues; no entry at the end. @type {Map<string, string> | null} */
    this.next = null;
    this.stop = new AbortController();
  }

  /** Read the next page of each namespace. */
  async older() {
    if (this.loading.peek() || !this.more.peek()) return;
    this.loading.value = true;
    const { signal: stop } = this.stop;
    try {
      this.next ??= new Map(await Promise.all((await this.#scopes(stop)).map(async (each) => /** @type {[string, string]} */ ([each, await historyEnd(apiPath(this.kind, each), stop)]))));
      const next = new Map();
      const pages = await Promise.all([...this.next].map(async ([scope, before]) => {
        const page = await readChanges(session.transport, apiPath(this.kind, scope), "deleted", { before }, stop);
        if (page.reason === "Limit" && page.next) next.set(scope, page.next);
        if (page.reason === "Expired") this.removed.value = true;
        return page.changes;
      }));
      this.next = next;
      const all = [...this.all.peek(), ...pages.flat()].sort((a, b) => Number(b.resourceVersion) - Number(a.resourceVersion)).slice(0, DELETIONS_MAX);
      batch(() => {
        this.all.value = all;
        this.more.value = next.size > 0 && all.length < DELETIONS_MAX;
        this.failed.value = null;
      });
    } catch (error) {
      if (!stop.aborted) this.failed.value = error;
    } finally {
      this.loading.value = false;
      this.loaded.value = true;
    }
  }

  /** @param {AbortSignal} stop */
  async #scopes(stop) {
    if (!this.kind.namespaced) return [""];
    const allowed = await allowedNamespaces(this.kind).catch(() => null);
    if (allowed === null || allowed.allNamespaces) return this.chosen.length ? this.chosen.slice(0, SCOPES_MAX) : [""];
    return (this.chosen.length ? this.chosen.filter((each) => allowed.namespaces.includes(each)) : allowed.namespaces).slice(0, SCOPES_MAX);
  }

  /** Stop reading. */
  close() {
    this.stop.abort();
  }
}
