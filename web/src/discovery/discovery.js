/** `Discovery`: the kinds of the server. They follow new CRDs and APIServices without a reload. */
import { computed, signal } from "@preact/signals";
import { StatusError } from "../transport/errors.js";
import { kindsOf, sectionsOf } from "./kinds.js";

const ACCEPT =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/** What changes the kinds. */
const SOURCES = [
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  "/apis/apiregistration.k8s.io/v1/apiservices",
];
const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const SETTLE_MS = 150;
const POLL_MS = 10_000;
const RETRY_MS = 1500;

export class Discovery {
  /** @param {import("../transport/fetch_transport.js").Transport} transport */
  constructor(transport) {
    this.transport = transport;
    /** @type {import("@preact/signals").Signal<import("./kinds.js").Kind[]>} */
    this.kinds = signal([]);
    this.sections = computed(() => sectionsOf(this.kinds.value));
    this.loaded = signal(false);
    /** Generations of CRDs that have changed, by name: their lists may have other columns. @type {import("@preact/signals").Signal<Map<string, number>>} */
    this.generations = signal(new Map());
    /** @type {Map<string, number>} */
    this.changed = new Map();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.text = "";
  }

  /**
   * Follow the kinds until the signal aborts. The first refusal is reported; `connection` shows that nothing was loaded.
   * @param {AbortSignal} stop
   * @param {import("../transport/connection.js").Connection} connection
   * @param {(error: StatusError) => void} onRefused
   */
  async run(stop, connection, onRefused) {
    for (let refused = false; !stop.aborted && !this.loaded.value; ) {
      try {
        await this.load(stop);
      } catch (error) {
        connection.interrupted(this);
        if (error instanceof StatusError && !refused && !stop.aborted) onRefused(error);
        refused ||= error instanceof StatusError;
        await pause(RETRY_MS, stop);
      }
    }
    connection.restored(this);
    await Promise.all(SOURCES.map((path) => this.#follow(path, stop)));
  }

  /** @param {AbortSignal} [stop] */
  async load(stop) {
    const lists = await Promise.all(
      ["/api", "/apis"].map((path) => this.transport.json(path, { accept: ACCEPT, signal: stop })),
    );
    const text = JSON.stringify(lists);
    if (text !== this.text) {
      this.text = text;
      this.kinds.value = kindsOf(lists);
    }
    this.loaded.value = true;
  }

  /**
   * Return a kind, or undefined if the server has none there.
   * @param {{ group: string, plural: string, version?: string }} id
   */
  find({ group, plural }) {
    return this.kinds.value.find((each) => each.group === group && each.plural === plural);
  }

  /**
   * Return the kind of an object, or undefined.
   * @param {string} apiVersion
   * @param {string} kind
   */
  ofObject(apiVersion, kind) {
    const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
    return this.kinds.value.find((each) => each.group === group && each.kind === kind);
  }

  /**
   * Load again after each change of a resource; without the right to watch it, from time to time.
   * @param {string} path
   * @param {AbortSignal} stop
   */
  async #follow(path, stop) {
    while (!stop.aborted) {
      try {
        if (!(await this.#mayRead(path, stop))) throw new StatusError(403, {});
        const list = await this.transport.json(`${path}?limit=1`, { accept: METADATA.replace("Metadata", "MetadataList"), signal: stop });
        const from = encodeURIComponent(list.metadata?.resourceVersion ?? "");
        await this.transport.stream(`${path}?watch=1&resourceVersion=${from}`, METADATA, (events) => this.#note(events, stop), stop);
      } catch {
        if (stop.aborted) return;
        await pause(POLL_MS, stop);
      }
      this.#later(stop);
      await pause(SETTLE_MS, stop);
    }
  }

  /**
   * Return whether the user may list and watch a resource, so that no request is refused.
   * @param {string} path
   * @param {AbortSignal} stop
   */
  async #mayRead(path, stop) {
    const [, , group, , resource] = path.split("/");
    const reviews = ["list", "watch"].map((verb) => {
      const spec = { resourceAttributes: { group, resource, verb } };
      return this.transport.json(REVIEWS, { method: "POST", body: { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec }, signal: stop });
    });
    return (await Promise.all(reviews)).every(({ status }) => status?.allowed);
  }

  /**
   * @param {any[]} events
   * @param {AbortSignal} stop
   */
  #note(events, stop) {
    if (events.length === 0) return;
    for (const { metadata } of events.map((event) => event.object ?? {})) {
      if (metadata?.name) this.changed.set(metadata.name, metadata.generation ?? 0);
    }
    this.#later(stop);
  }

  /** @param {AbortSignal} stop */
  #later(stop) {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      await this.load(stop).catch(() => {});
      if (this.changed.size === 0) return;
      this.generations.value = new Map([...this.generations.peek(), ...this.changed]);
      this.changed.clear();
    }, SETTLE_MS);
  }
}

/**
 * @param {number} ms
 * @param {AbortSignal} stop
 */
export function pause(ms, stop) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop.addEventListener("abort", () => (clearTimeout(timer), resolve(undefined)), { once: true });
  });
}
