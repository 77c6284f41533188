/** Reports of controllers that a view follows. Each reporter is polled; an unchanged report is not sent again. */
import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { pause } from "../discovery/discovery.js";
import { findReporters, readReport } from "./reporters.js";

const POLL_MS = 2000;

/** @typedef {import("./reporters.js").Reporter} Reporter */
/** @typedef {{ reporter: Reporter, report: any, etag: string, error: any }} Reported */

/**
 * Follow the reports of all reporters, or of one, while the view is shown. The value is null until the first of them.
 * @param {Record<string, string>} query
 * @param {string} [only] id of a reporter
 */
export function useReports(query, only = "") {
  const state = useMemo(() => signal(/** @type {{ all: Reported[], mayListLeases: boolean } | null} */ (null)), []);
  const text = JSON.stringify([query, only]);
  useEffect(() => {
    const stop = new AbortController();
    state.value = null;
    follow(state, query, only, stop.signal);
    return () => stop.abort();
  }, [text]);
  return state;
}

/**
 * @param {import("@preact/signals").Signal<{ all: Reported[], mayListLeases: boolean } | null>} state
 * @param {Record<string, string>} query
 * @param {string} only
 * @param {AbortSignal} stop
 */
async function follow(state, query, only, stop) {
  while (!stop.aborted) {
    if (!document.hidden || state.peek() === null) {
      const next = await readAll(state.peek()?.all ?? [], query, only, stop);
      if (stop.aborted) return;
      if (next) state.value = next;
    }
    await pause(POLL_MS, stop);
  }
}

/**
 * @param {Reported[]} before
 * @param {Record<string, string>} query
 * @param {string} only
 * @param {AbortSignal} stop
 */
async function readAll(before, query, only, stop) {
  try {
    const { reporters, mayListLeases } = await findReporters();
    const chosen = only ? reporters.filter((each) => each.id === only) : reporters;
    const all = await Promise.all(chosen.map((reporter) => readOne(reporter, before.find((each) => each.reporter.id === reporter.id), query, stop)));
    return { all, mayListLeases };
  } catch {
    return before.length ? null : { all: [], mayListLeases: true };
  }
}

/**
 * @param {Reporter} reporter
 * @param {Reported | undefined} before
 * @param {Record<string, string>} query
 * @param {AbortSignal} stop
 * @returns {Promise<Reported>}
 */
async function readOne(reporter, before, query, stop) {
  if (reporter.hidden) return { reporter, report: null, etag: "", error: null };
  try {
    const read = await readReport(reporter, query, before?.report ? before.etag : "", stop);
    return read ? { reporter, ...read, error: null } : { reporter, report: before?.report ?? null, etag: before?.etag ?? "", error: null };
  } catch (error) {
    return { reporter, report: before?.report ?? null, etag: "", error };
  }
}

/**
 * Return true if the server has no reports of controllers: it is not Sampan.
 * @param {any} error
 */
export function isAbsent(error) {
  return error?.code === 404;
}
