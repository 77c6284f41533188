/** `Reflector`: reads a list in pages, then watches it, and writes both into a store. It recovers from every interruption. */
import { pause } from "../discovery/discovery.js";
import { moment } from "../past/moment.js";
import { parametersAt } from "../past/read.js";
import { ConnectionLost, StatusError } from "../transport/errors.js";
import { ColumnsChanged } from "./store.js";

export const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const FIRST_PAGE = 500;
const NEXT_PAGES = 1000;
const BACKOFF_MS = 500;
const BACKOFF_MAX_MS = 8000;

/**
 * @typedef {{ addPage: (scope: string, list: any, generation: number) => void, begin: () => number,
 *   finish: (scope: string, generation: number) => void,
 *   enqueue: (scope: string, events: import("./store.js").WatchEvent[]) => void }} Store
 * @typedef {{ transport: import("../transport/fetch_transport.js").Transport, connection: import("../transport/connection.js").Connection,
 *   path: string, accept: string, selectors?: Record<string, string>, store: Store, scope?: string,
 *   onListed?: () => void, onRefused?: (error: StatusError | null) => void }} ReflectorOptions
 */

export class Reflector {
  /** @param {ReflectorOptions} options */
  constructor(options) {
    this.options = options;
    this.scope = options.scope ?? options.path;
    this.revision = "";
    this.failures = 0;
  }

  /**
   * Follow the list until the signal aborts.
   * @param {AbortSignal} stop
   */
  async run(stop) {
    const { connection, onRefused } = this.options;
    if (moment.peek()) return this.#past(stop);
    while (!stop.aborted) {
      try {
        if (this.revision === "") await this.#list(stop);
        await this.#watch(stop);
        await pause(BACKOFF_MS / 5, stop);
      } catch (error) {
        if (stop.aborted) break;
        if (error instanceof ConnectionLost) {
          connection.interrupted(this);
        } else {
          // Expired revisions and other columns: read the list again.
          this.revision = "";
          if (error instanceof ColumnsChanged || (error instanceof StatusError && error.code === 410)) continue;
          if (error instanceof StatusError && error.code === 401) break;
          if (error instanceof StatusError) onRefused?.(error);
          else throw error;
        }
        await pause(Math.min(BACKOFF_MS * 2 ** this.failures++, BACKOFF_MAX_MS), stop);
      }
    }
    connection.restored(this);
  }

  /**
   * Read the list of a moment in the past, which never changes.
   * @param {AbortSignal} stop
   */
  async #past(stop) {
    const { path, onRefused } = this.options;
    try {
      await this.#list(stop, await parametersAt(path, stop));
    } catch (error) {
      if (stop.aborted) return;
      if (error instanceof StatusError) onRefused?.(error);
      else if (error instanceof ConnectionLost) onRefused?.(new StatusError(503, { message: error.message }));
      else throw error;
    }
  }

  /**
   * @param {AbortSignal} stop
   * @param {Record<string, string>} [exact] which revision to read
   */
  async #list(stop, exact = {}) {
    const { transport, path, accept, store, selectors = {}, onListed, onRefused } = this.options;
    const generation = store.begin();
    let next = "";
    let limit = FIRST_PAGE;
    do {
      const parameters = new URLSearchParams({ ...selectors, limit: String(limit), ...(next ? { continue: next } : exact) });
      const page = await transport.json(`${path}?${parameters}`, { accept, signal: stop });
      store.addPage(this.scope, page, generation);
      this.#restored();
      onRefused?.(null);
      onListed?.();
      next = page.metadata?.continue ?? "";
      limit = NEXT_PAGES;
      if (!next) this.revision = page.metadata?.resourceVersion ?? "0";
    } while (next && !stop.aborted);
    store.finish(this.scope, generation);
  }

  /** @param {AbortSignal} stop */
  async #watch(stop) {
    const { transport, path, accept, store, selectors = {} } = this.options;
    const parameters = new URLSearchParams({
      ...selectors,
      watch: "1",
      allowWatchBookmarks: "true",
      resourceVersion: this.revision,
    });
    const inner = new AbortController();
    const abort = () => inner.abort();
    stop.addEventListener("abort", abort, { once: true });
    /** @type {unknown} */
    let failed = null;
    try {
      await transport.stream(
        `${path}?${parameters}`,
        accept,
        (events) => {
          this.#restored();
          try {
            if (events.length) this.#receive(events, store);
          } catch (error) {
            failed = error;
            inner.abort();
          }
        },
        inner.signal,
      );
    } catch (error) {
      throw failed ?? error;
    } finally {
      stop.removeEventListener("abort", abort);
    }
    if (failed) throw failed;
  }

  /**
   * @param {import("./store.js").WatchEvent[]} events
   * @param {Store} store
   */
  #receive(events, store) {
    const error = events.find((event) => event.type === "ERROR");
    if (error) throw new StatusError(error.object?.code ?? 500, error.object ?? {});
    const last = events[events.length - 1].object;
    store.enqueue(this.scope, events.filter((event) => event.type !== "BOOKMARK"));
    const revision = last?.rows?.[0]?.object?.metadata?.resourceVersion ?? last?.metadata?.resourceVersion;
    if (revision) this.revision = revision;
  }

  #restored() {
    this.failures = 0;
    this.options.connection.restored(this);
  }
}
