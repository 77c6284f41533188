/** `LogStreams`: the logs of all chosen containers, merged in one ring. */
import { signal } from "@preact/signals";
import { ContainerLog } from "./container_log.js";
import { eventOf, keyNow } from "./line.js";
import { LogRing } from "./ring.js";
import { Selection } from "./selection.js";
import { containersOf, labelsOf } from "./sources.js";

/** Pods of which the logs are shown at once. */
export const PODS_MAX = 20;
/** Logs that are read at once: the stream of the server has 100 subscriptions. */
export const STREAMS_MAX = 40;
/** Milliseconds after which new lines are shown. */
const FLUSH_MS = 100;
const COLOURS = 8;

/** @typedef {import("./line.js").Source} Source */

export class LogStreams {
  /**
   * @param {{ transport: import("../transport/fetch_transport.js").Transport, namespace: string, options: import("./options.js").Options,
   *   store: import("../details/object_store.js").ObjectStore }} given
   */
  constructor({ transport, namespace, options, store }) {
    this.transport = transport;
    this.namespace = namespace;
    this.options = options;
    this.store = store;
    this.stop = new AbortController();
    this.ring = new LogRing();
    this.selection = new Selection(this.ring, () => this.#changed());
    /** @type {import("@preact/signals").Signal<Source[]>} */
    this.sources = signal([]);
    /** Rises with each change of the lines. */
    this.version = signal(0);
    /** Height in lines that the last changes have removed above the others. The view takes it back. */
    this.removed = 0;
    /** Lines that came since the view was at the end. */
    this.unread = signal(0);
    this.paused = signal(false);
    /** Pods that exist, those with logs on the screen first. @type {import("@preact/signals").Signal<any[]>} */
    this.pods = signal([]);
    /** @type {Map<string, Source>} */
    this.known = new Map();
    /** @type {Map<string, number>} */
    this.colours = new Map();
    /** @type {import("./line.js").Line[]} */
    this.queue = [];
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /** Follow the Pods that exist now, and mark those that are gone. */
  update() {
    if (this.stop.signal.aborted) return;
    const { options } = this;
    const pods = [...this.store.objects.peek().values()].sort(byAge);
    const chosen = options.pods.length ? pods.filter((pod) => options.pods.includes(pod.metadata.name)) : this.#newest(pods);
    const joins = this.known.size > 0;
    for (const pod of chosen.slice(0, PODS_MAX)) {
      const fresh = containersOf(pod).filter((name) => !this.known.has(`${pod.metadata.uid}/${name}`) && (!options.container || options.container === name));
      for (const name of fresh) this.#follow(pod, name);
      if (fresh.length && joins) this.#note(this.known.get(`${pod.metadata.uid}/${fresh[0]}`), "joined");
    }
    const uids = new Set(pods.map((pod) => pod.metadata.uid));
    const gone = [...this.known].filter(([id, source]) => source.state !== "gone" && !uids.has(id.split("/")[0]));
    for (const [, source] of gone) source.state = "gone";
    const names = new Set(gone.map(([, source]) => source.pod));
    for (const name of names) this.#note(gone.find(([, source]) => source.pod === name)?.[1], "gone");
    this.pods.value = pods;
    this.#named();
  }

  /**
   * Return the Pods that are shown without a choice: those that are, then the newest.
   * @param {any[]} pods
   */
  #newest(pods) {
    const shown = new Set([...this.known.values()].filter((source) => source.state !== "gone").map((source) => source.pod));
    return [...pods].sort((a, b) => Number(shown.has(b.metadata.name)) - Number(shown.has(a.metadata.name)));
  }

  /**
   * @param {any} pod
   * @param {string} container
   */
  #follow(pod, container) {
    const { uid, name } = pod.metadata;
    const running = [...this.known.values()].filter((source) => !["gone", "ended", "refused"].includes(source.state));
    if (running.length >= STREAMS_MAX) return;
    const colour = this.colours.get(name) ?? this.colours.size % COLOURS;
    this.colours.set(name, colour);
    /** @type {Source} */
    const source = { id: `${uid}/${container}`, pod: name, container, colour, label: "", state: "connecting", problem: "", code: 0 };
    this.known.set(`${uid}/${container}`, source);
    new ContainerLog({
      transport: this.transport,
      namespace: this.namespace,
      source,
      options: this.options,
      isOver: () => isOver(this.store.objects.peek().get(uid), container),
      onLines: (lines) => this.#receive(lines),
      onState: () => this.#named(),
    }).run(this.stop.signal).catch((error) => {
      source.state = "refused";
      source.problem = String(error);
      this.#named();
    });
  }

  #named() {
    const sources = [...this.known.values()];
    labelsOf(sources);
    this.sources.value = sources;
  }

  /**
   * @param {Source | undefined} source
   * @param {string} name
   */
  #note(source, name) {
    if (source) this.#receive([eventOf(source, name, keyNow())]);
  }

  /** @param {import("./line.js").Line[]} lines */
  #receive(lines) {
    for (const line of lines) {
      // A line without a level that goes on from the one before has its level: a stack trace.
      const before = this.queue[this.queue.length - 1];
      if (line.level < 0 && !line.event && before?.source === line.source && /^\s|^Caused by|^Traceback/.test(line.text)) line.level = before.level;
      this.queue.push(line);
    }
    this.timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  #flush() {
    this.timer = undefined;
    const batch = this.queue;
    this.queue = [];
    if (batch.length === 0 || this.stop.signal.aborted) return;
    const { added, removed } = this.selection.follow(this.ring.add(batch));
    this.removed += removed;
    if (this.paused.peek() && added > 0) this.unread.value += added;
    this.#changed();
  }

  #changed() {
    this.version.value++;
  }

  /** Stop all streams. The lines stay. */
  end() {
    this.stop.abort();
    this.selection.stop();
    clearTimeout(this.timer);
  }
}

/**
 * @param {any} pod
 * @param {string} container
 */
function isOver(pod, container) {
  if (!pod || ["Succeeded", "Failed"].includes(pod.status?.phase)) return true;
  const status = (pod.status?.initContainerStatuses ?? []).find((/** @type {any} */ each) => each.name === container);
  return status?.state?.terminated?.exitCode === 0;
}

/**
 * @param {any} a
 * @param {any} b
 */
function byAge(a, b) {
  return (b.metadata.creationTimestamp ?? "").localeCompare(a.metadata.creationTimestamp ?? "") || a.metadata.name.localeCompare(b.metadata.name);
}
