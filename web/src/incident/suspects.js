/** Which changes can explain a problem: those of fields that people and tools set, shortly before it began. */
import { problemsOf } from "../details/object_health.js";
import { isSecret } from "../details/secret.js";
import { isStatusOnly } from "../history/changed_fields.js";
import { LOOPS } from "../table/last_change.js";
import { now } from "../time/clock.js";

/**
 * @typedef {import("../history/revisions.js").Revision} Revision
 * @typedef {{ subject: import("./subjects.js").Subject, revisions: Revision[] }} Chapter
 * Revisions of one object, the newest first.
 * @typedef {{ subject: import("./subjects.js").Subject, revision: Revision, at: number, suspect: boolean }} ChangeEntry
 * @typedef {{ at: number, subject: import("./subjects.js").Subject, problem: import("../health/row_health.js").Problem }} Break
 */

/** Times are in whole seconds, so a cause and its effect may have the same one. */
const SLACK_MS = 1000;
/** Problems that also appear while all goes well. */
const USUAL = new Set(["problem.generation", "problem.pending"]);
/** Problems of containers, and how long one runs between two failures. */
const OF_CONTAINERS = new Set(["problem.waiting", "problem.terminated"]);
const RUNNING_MS = 600_000;
/** Fields that controllers note on objects of others. */
const NOTES = /^(metadata\.annotations\[(deployment\.kubernetes\.io|autoscaling\.alpha\.kubernetes\.io|kubectl\.kubernetes\.io\/last-applied)|metadata\.(finalizers|ownerReferences|deletion))/;

/**
 * Return the first problem that still exists; null if there is none.
 * @param {Chapter[]} chapters
 * @returns {Break | null}
 */
export function breakOf(chapters) {
  /** @type {Break | null} */
  let first = null;
  for (const { subject, revisions } of chapters) {
    if (subject.role !== "self" && subject.role !== "owned") continue;
    let began = null;
    for (const { type, object, time } of revisions) {
      if (type === "DELETED" || time === null) break;
      const at = Date.parse(time);
      const problem = problemsOf(object).find((each) => !USUAL.has(each.key));
      if (problem) began = { at, subject, problem };
      // A container that crashes runs for a while after each restart.
      else if (!(began ? OF_CONTAINERS.has(began.problem.key) && began.at - at < RUNNING_MS : restartedAfterFailure(object))) break;
    }
    if (began && (!first || began.at < first.at)) first = began;
  }
  return first;
}

/** @param {any} object */
function restartedAfterFailure({ status }) {
  return (status?.containerStatuses ?? []).some((/** @type {any} */ { lastState }) => {
    const ended = lastState?.terminated;
    return ended && ended.exitCode !== 0 && now.peek() - Date.parse(ended.finishedAt ?? "") < RUNNING_MS;
  });
}

/**
 * Return the changes around a moment, the newest first. Suspects are before it, and not of a control loop.
 * @param {Chapter[]} chapters
 * @param {number} at in milliseconds
 * @param {number} window in milliseconds
 * @returns {ChangeEntry[]}
 */
export function changesAround(chapters, at, window) {
  /** @type {ChangeEntry[]} */
  const found = [];
  for (const { subject, revisions } of chapters) {
    for (const each of revisions) {
      const ms = each.time === null ? NaN : Date.parse(each.time);
      if (!(Math.abs(ms - at) <= window) || (each.type === "MODIFIED" && (!each.known || isStatusOnly(each.fields)))) continue;
      const revision = isSecret(each.object) ? { ...each, fields: each.fields.map(({ path }) => ({ path, before: undefined, after: undefined })) } : each;
      found.push({ subject, revision, at: ms, suspect: ms <= at + SLACK_MS && explains(subject, each) });
    }
  }
  return found.sort((a, b) => b.at - a.at || Number(b.revision.revision) - Number(a.revision.revision));
}

/** @param {import("./subjects.js").Subject} subject @param {Revision} revision */
function explains({ role }, { type, fields, actor }) {
  // What is owned follows from its owner.
  if (role === "owned") return type === "MODIFIED" && !LOOPS.test(actor.manager) && !actor.subresource && fields.some(matters);
  if (type !== "MODIFIED") return role !== "owner" || type === "ADDED";
  return !LOOPS.test(actor.manager) && fields.some(matters);
}

/** @param {import("../history/changed_fields.js").Field} field */
function matters({ path }) {
  return !path.startsWith("status") && !NOTES.test(path);
}

/**
 * Return the suspects, the likeliest first: changes before creations, then the nearest to the problem.
 * @param {ChangeEntry[]} changes
 * @returns {ChangeEntry[]}
 */
export function suspectsOf(changes) {
  const weight = (/** @type {ChangeEntry} */ { revision }) => (revision.type === "ADDED" ? 1 : 0);
  return changes.filter(({ suspect }) => suspect).sort((a, b) => weight(a) - weight(b) || b.at - a.at || Number(b.revision.revision) - Number(a.revision.revision));
}
