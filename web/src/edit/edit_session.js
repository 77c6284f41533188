/** `EditSession`: the text of one object while it is edited, what the server has meanwhile, and the problems of the text. */
import { computed, signal } from "@preact/signals";
import { ObjectStore } from "../details/object_store.js";
import { masked } from "../details/secret.js";
import { apiPath } from "../discovery/kinds.js";
import { session } from "../session/session.js";
import { Reflector } from "../table/reflector.js";
import { StatusError } from "../transport/errors.js";
import { check } from "./check.js";
import { draftOf, dropDraft, keepDraft } from "./draft.js";
import { updatedText } from "./document_update.js";
import { manifestOf, readManifest } from "./manifest.js";
import { marksOf } from "./place_problems.js";
import { mergeThree } from "./three_way.js";
import { inTextOrder, unmasked } from "./server_fields.js";

const IDLE_MS = 300;

export class EditSession {
  /** @param {import("./check.js").Target} target */
  constructor(target) {
    this.target = target;
    /** The object when the edit began, and the text of it. @type {import("@preact/signals").Signal<any>} */
    this.base = signal(null);
    this.original = signal("");
    /** The newest object of the server; after its deletion, the last one. @type {import("@preact/signals").Signal<any>} */
    this.stored = signal(null);
    /** Whether the object has been deleted since. */
    this.gone = signal(false);
    this.text = signal("");
    /** @type {import("@preact/signals").Signal<import("./place_problems.js").Mark[]>} */
    this.marks = signal([]);
    this.checking = signal(false);
    /** Edit of an earlier visit. @type {import("@preact/signals").Signal<import("./draft.js").Draft | null>} */
    this.draft = signal(null);
    /** Whether the text survives a reload. */
    this.kept = signal(true);
    /** Whether the text is one object. */
    this.readable = signal(true);
    /** Why the object cannot be read. @type {import("@preact/signals").Signal<any>} */
    this.refused = signal(null);
    this.dirty = computed(() => this.text.value !== this.original.value);
    this.errors = computed(() => this.marks.value.filter((mark) => mark.severity === "error").length);
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.stopCheck = new AbortController();
  }

  /**
   * Read the object, then follow it.
   * @param {AbortSignal} stop
   */
  async run(stop) {
    const { kind, namespace, name } = this.target;
    try {
      const object = await session.transport.json(apiPath(kind, namespace, name), { signal: stop });
      this.begin(object);
    } catch (error) {
      if (!stop.aborted) this.refused.value = error;
      return;
    }
    const store = new ObjectStore();
    const unread = store.objects.peek();
    const end = store.objects.subscribe((objects) => {
      const found = [...objects.values()][0];
      this.gone.value = !found && objects !== unread;
      if (found && newer(found, this.stored.peek())) this.stored.value = found;
    });
    stop.addEventListener("abort", end, { once: true });
    await new Reflector({
      transport: session.transport, connection: session.connection, path: apiPath(kind, namespace), accept: "application/json",
      selectors: { fieldSelector: `metadata.name=${name}` }, store, onRefused: () => {},
    }).run(stop);
  }

  /** @param {any} object */
  begin(object) {
    this.base.value = object;
    this.stored.value = object;
    this.original.value = manifestOf(masked(object));
    this.text.value = this.original.peek();
    const draft = draftOf(this.#key());
    this.draft.value = draft && draft.text !== this.original.peek() ? draft : null;
  }

  /** Continue an edit of an earlier visit. Return its text. */
  restore() {
    const draft = /** @type {import("./draft.js").Draft} */ (this.draft.peek());
    if (draft.base?.metadata?.uid === this.base.peek().metadata.uid) {
      this.base.value = draft.base;
      this.original.value = manifestOf(masked(draft.base));
    }
    this.draft.value = null;
    this.edit(draft.text);
    return draft.text;
  }

  /**
   * Merge the edit with the newest object. Return the text, and the paths that both changed.
   * @returns {{ text: string, both: import("./field_paths.js").Path[] }}
   */
  merge() {
    const stored = this.stored.peek();
    const { part } = this.read();
    /** @type {import("./field_paths.js").Path[]} */
    const both = [];
    const merged = mergeThree(masked(this.base.peek()), part?.value ?? {}, masked(stored), both);
    const text = updatedText(this.text.peek(), inTextOrder(merged)) ?? this.text.peek();
    this.base.value = stored;
    this.original.value = manifestOf(masked(stored));
    this.edit(text);
    return { text, both };
  }

  /** Forget what is kept for another visit. */
  forget() {
    this.draft.value = null;
    dropDraft(this.#key());
  }

  #key() {
    const { kind, namespace, name } = this.target;
    return `${session.login.peek()?.user.username} ${apiPath(kind, namespace, name)} ${this.base.peek()?.metadata.uid}`;
  }

  /**
   * Take a changed text, and check it when the user pauses.
   * @param {string} text
   */
  edit(text) {
    this.text.value = text;
    if (!this.dirty.peek()) this.forget();
    else if (!this.draft.peek()) this.kept.value = keepDraft(this.#key(), text, this.base.peek());
    this.later();
  }

  /** Check the text after a pause. */
  later() {
    clearTimeout(this.timer);
    this.stopCheck.abort();
    this.checking.value = true;
    this.timer = setTimeout(() => this.check(), IDLE_MS);
  }

  /**
   * Continue after a save. Comments and the order of fields stay. Return the new text.
   * @param {any} object
   */
  saved(object) {
    const shown = inTextOrder(masked(object));
    const text = updatedText(this.text.peek(), shown) ?? manifestOf(shown);
    this.base.value = object;
    if (newer(object, this.stored.peek())) this.stored.value = object;
    this.original.value = text;
    this.text.value = text;
    this.marks.value = [];
    this.forget();
    return text;
  }

  /** Read the text. The manifest has the values of a Secret that the page masks. */
  read() {
    const { parts, faults } = readManifest(this.text.peek());
    return { part: parts.length === 1 && !faults.length ? parts[0] : null, faults, manifest: parts.length === 1 ? unmasked(parts[0].value, this.stored.peek()) : null };
  }

  async check() {
    this.stopCheck = new AbortController();
    const { signal } = this.stopCheck;
    const { part, faults, manifest } = this.read();
    this.readable.value = part !== null;
    if (!part) {
      this.marks.value = faults.map((fault) => ({ ...fault, severity: "error" }));
      this.checking.value = false;
      return;
    }
    try {
      const problems = await check(this.target, manifest, this.stored.peek(), signal);
      if (!signal.aborted) this.marks.value = marksOf(part, problems);
    } catch (error) {
      if (!signal.aborted && error instanceof StatusError) throw error;
    } finally {
      if (!signal.aborted) this.checking.value = false;
    }
  }

  /** Stop all that still runs. */
  end() {
    clearTimeout(this.timer);
    this.stopCheck.abort();
  }
}

/**
 * @param {any} found
 * @param {any} known
 */
function newer(found, known) {
  return !known || found.metadata.uid !== known.metadata.uid || Number(found.metadata.resourceVersion) >= Number(known.metadata.resourceVersion);
}
