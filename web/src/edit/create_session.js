/** `CreateSession`: a text with new objects, its problems, and the result of each document. */
import { computed, signal } from "@preact/signals";
import { apiPath } from "../discovery/kinds.js";
import { session } from "../session/session.js";
import { StatusError } from "../transport/errors.js";
import { t } from "../texts/catalogue.js";
import { MANAGER, check } from "./check.js";
import { dropDraft, keepDraft } from "./draft.js";
import { readManifest } from "./manifest.js";
import { marksOf } from "./place_problems.js";
import { warningOf } from "./problems.js";

const IDLE_MS = 300;
const CHECKED_MAX = 20;

/**
 * @typedef {{ title: string, kind: import("../discovery/kinds.js").Kind | null, namespace: string, name: string,
 *   state: "created" | "exists" | "refused", error: any }} Result
 */

export class CreateSession {
  /** @param {string} key of the draft */
  constructor(key) {
    this.key = `${session.login.peek()?.user.username} ${key}`;
    this.text = signal("");
    /** @type {import("@preact/signals").Signal<import("./place_problems.js").Mark[]>} */
    this.marks = signal([]);
    this.checking = signal(false);
    this.dirty = signal(false);
    this.kept = signal(true);
    this.documents = signal(0);
    /** @type {import("@preact/signals").Signal<Result[]>} */
    this.results = signal([]);
    this.errors = computed(() => this.marks.value.filter((mark) => mark.severity === "error").length);
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.stop = new AbortController();
  }

  /** @param {string} text */
  edit(text) {
    this.text.value = text;
    this.dirty.value = true;
    this.results.value = [];
    this.kept.value = keepDraft(this.key, text, null);
    clearTimeout(this.timer);
    this.stop.abort();
    this.checking.value = true;
    this.timer = setTimeout(() => this.check(), IDLE_MS);
  }

  async check() {
    this.stop = new AbortController();
    const { signal: stop } = this.stop;
    const { parts, faults } = readManifest(this.text.peek());
    this.documents.value = faults.length ? 0 : parts.length;
    /** @type {import("./place_problems.js").Mark[]} */
    const marks = faults.map((fault) => ({ ...fault, severity: "error" }));
    try {
      for (const part of faults.length ? [] : parts.slice(0, CHECKED_MAX)) marks.push(...marksOf(part, await this.#problems(part.value, stop)));
    } catch (error) {
      if (!stop.aborted && error instanceof StatusError) throw error;
    }
    if (stop.aborted) return;
    this.marks.value = marks;
    this.checking.value = false;
  }

  /** @param {any} value @param {AbortSignal} stop @returns {Promise<import("./problems.js").Problem[]>} */
  async #problems(value, stop) {
    const target = targetOf(value);
    if (!target) return [{ message: t("create.no_kind"), steps: [value.apiVersion === undefined ? "apiVersion" : "kind"], severity: "error" }];
    const found = await check({ ...target, name: "" }, value, null, stop);
    // An object that exists is applied; the check of the new one ends there.
    return found.map((problem) => (/ already exists$/.test(problem.message) ? warningOf(problem.message) : problem));
  }

  /** Create all documents in their order. An object that exists is not changed. */
  async create() {
    /** @type {Result[]} */
    const results = [];
    for (const { value } of readManifest(this.text.peek()).parts) {
      results.push(await createOne(value));
      this.results.value = [...results];
    }
    if (results.every(({ state }) => state === "created")) {
      this.dirty.value = false;
      dropDraft(this.key);
    }
    return results;
  }

  end() {
    clearTimeout(this.timer);
    this.stop.abort();
  }
}

/** @param {any} value @returns {import("./check.js").Target | null} */
export function targetOf(value) {
  const kind = session.discovery.ofObject(String(value.apiVersion ?? ""), String(value.kind ?? ""));
  if (!kind) return null;
  const version = String(value.apiVersion).split("/").at(-1) ?? kind.version;
  return { kind: { ...kind, version }, namespace: kind.namespaced ? String(value.metadata?.namespace ?? "default") : "", name: String(value.metadata?.name ?? "") };
}

/** @param {any} value @returns {Promise<Result>} */
async function createOne(value) {
  const target = targetOf(value);
  const title = `${value.kind ?? ""} ${value.metadata?.name ?? ""}`;
  if (!target) return { title, kind: null, namespace: "", name: "", state: "refused", error: new Error(t("create.no_kind")) };
  const { kind, namespace } = target;
  try {
    const made = await session.transport.json(`${apiPath(kind, namespace)}?fieldManager=${MANAGER}&fieldValidation=Strict`, { method: "POST", body: value });
    if (kind.plural === "customresourcedefinitions") await session.discovery.load();
    return { title, kind, namespace, name: made.metadata.name, state: "created", error: null };
  } catch (error) {
    const exists = error instanceof StatusError && error.status.reason === "AlreadyExists";
    return { title, kind, namespace, name: target.name, state: exists ? "exists" : "refused", error };
  }
}
