/** `Investigation`: reads the history of an object and of all around it. */
import { signal } from "@preact/signals";
import { NoHistory } from "../history/records.js";
import { revisionsOf } from "../history/revisions.js";
import { readRevisions } from "../past/read.js";
import { StatusError } from "../transport/errors.js";
import { distinct, referencesOf, subjectsOf } from "./subjects.js";

const AT_ONCE = 4;
const REVISIONS = 60;
const EARLIER_MAX = 10;

export class Investigation {
  constructor() {
    /** @type {import("@preact/signals").Signal<import("./suspects.js").Chapter[]>} */
    this.chapters = signal([]);
    /** Objects whose history the user may not read. @type {import("@preact/signals").Signal<import("./subjects.js").Subject[]>} */
    this.refused = signal([]);
    this.loaded = signal(false);
    /** @type {import("@preact/signals").Signal<any>} */
    this.failed = signal(null);
  }

  /**
   * Read all histories, until the signal aborts.
   * @param {import("../discovery/kinds.js").Kind} kind
   * @param {any} object
   * @param {import("../details/related.js").Owned[]} owned
   * @param {AbortSignal} stop
   */
  async run(kind, object, owned, stop) {
    try {
      const subjects = await subjectsOf(kind, object, owned, stop);
      const waiting = [...subjects];
      /** @type {Map<import("./subjects.js").Subject, import("./suspects.js").Chapter>} */
      const found = new Map();
      /** @type {import("./subjects.js").Subject[]} */
      const refused = [];
      const work = async () => {
        for (let next = waiting.shift(); next && !stop.aborted; next = waiting.shift()) {
          try {
            found.set(next, await chapterOf(next, stop));
          } catch (error) {
            if (next.role === "self" || !(error instanceof StatusError)) throw error;
            if (error.code === 403) refused.push(next);
          }
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      // A reference that was removed can explain a problem too.
      const earlier = (found.get(subjects[0])?.revisions ?? []).flatMap((each) => referencesOf(each.object));
      const added = distinct([...subjects, ...earlier]).slice(subjects.length, subjects.length + EARLIER_MAX);
      subjects.push(...added);
      waiting.push(...added);
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      if (stop.aborted) return;
      this.chapters.value = subjects.flatMap((each) => found.get(each) ?? []);
      this.refused.value = refused;
      this.failed.value = null;
    } catch (error) {
      if (!stop.aborted) this.failed.value = error;
    } finally {
      if (!stop.aborted) this.loaded.value = true;
    }
  }

  /** Whether the server has no history. */
  get unsupported() {
    return this.failed.value instanceof NoHistory;
  }
}

/** @param {import("./subjects.js").Subject} subject @param {AbortSignal} stop @returns {Promise<import("./suspects.js").Chapter>} */
async function chapterOf(subject, stop) {
  const { kind, namespace, name } = subject;
  const page = await readRevisions(kind, namespace, name, { limit: REVISIONS }, stop);
  return { subject, revisions: revisionsOf(page.changes, page.reason === "Limit" && !page.next ? "Created" : page.reason) };
}
