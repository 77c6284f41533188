/** `ListSource`: which namespaces a list reads, and the reflectors that read them. */
import { signal } from "@preact/signals";
import { pause } from "../discovery/discovery.js";
import { apiPath, resourceName } from "../discovery/kinds.js";
import { session } from "../session/session.js";
import { Reflector, TABLE } from "../table/reflector.js";
import { TableStore } from "../table/store.js";
import { StatusError } from "../transport/errors.js";
import { allowedNamespaces } from "./namespaces.js";

/** Namespaces that get a list of their own; for more of them the page reads all, if the user may. */
const SEPARATE_MAX = 6;
/** Time in milliseconds between reviews while the user may list in no namespace. */
const REVIEW_MS = 11_000;

export class ListSource {
  /**
   * @param {import("../discovery/kinds.js").Kind} kind
   * @param {string[]} chosen namespaces; empty: all
   * @param {Record<string, string>} selectors
   */
  constructor(kind, chosen, selectors) {
    this.kind = kind;
    this.chosen = chosen;
    this.selectors = selectors;
    this.store = new TableStore();
    this.listed = signal(false);
    /** @type {import("@preact/signals").Signal<StatusError | null>} */
    this.refused = signal(null);
    /** Why the list may be incomplete, and where the user may list. @type {import("@preact/signals").Signal<import("./namespaces.js").Allowed | null>} */
    this.allowed = signal(null);
    /** Namespaces of the shown rows; null: of all. @type {ReadonlySet<string> | null} */
    this.shown = null;
    this.stop = new AbortController();
    this.previous = "";
  }

  /** Read until `end`. */
  async begin() {
    const stop = this.stop.signal;
    let scopes = this.kind.namespaced ? await this.#scopes(stop) : [""];
    while (scopes.length === 0 && !stop.aborted) {
      this.listed.value = true;
      // An administrator may grant the right in the meantime.
      await pause(REVIEW_MS, stop);
      scopes = await this.#scopes(stop);
    }
    if (stop.aborted) return;
    const waiting = new Set(scopes);
    await Promise.all(
      scopes.map((namespace) =>
        new Reflector({
          transport: session.transport,
          connection: session.connection,
          path: apiPath(this.kind, namespace),
          accept: TABLE,
          selectors: this.selectors,
          store: this.store,
          onListed: () => {
            waiting.delete(namespace);
            this.listed.value = true;
          },
          onRefused: (error) => this.#refused(error, namespace),
        }).run(stop),
      ),
    );
  }

  end() {
    this.stop.abort();
  }

  /** @param {AbortSignal} stop */
  async #scopes(stop) {
    const { chosen, kind } = this;
    const allowed = await allowedNamespaces(kind).catch(() => null);
    this.allowed.value = allowed;
    if (allowed === null || allowed.allNamespaces) {
      if (chosen.length > 0 && chosen.length <= SEPARATE_MAX) return chosen;
      this.shown = chosen.length ? new Set(chosen) : null;
      return [""];
    }
    return chosen.length ? chosen.filter((each) => allowed.namespaces.includes(each)) : allowed.namespaces;
  }

  /**
   * @param {StatusError | null} error
   * @param {string} namespace
   */
  #refused(error, namespace) {
    if (error === null) {
      this.refused.value = null;
      return;
    }
    // What the user may no longer see is not shown either.
    if (error.code === 403 || error.code === 404) this.store.clear();
    error.status = { ...error.status, details: { ...error.status.details } };
    this.refused.value = Object.assign(error, { verb: "list", resource: resourceName(this.kind), namespace });
    this.listed.value = true;
  }
}
