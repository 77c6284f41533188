/** Problems of what an object owns, grouped by state, each with what the newest warnings say about it. */

const GROUPS_MAX = 5;
/** Reasons of warnings about what an object waits for: FailedScheduling, FailedMount, FailedCreate and others. */
const BLOCKED = /^Failed./;

/**
 * @typedef {{ status: string, owned: import("./related.js").Owned[], message: string, reason: string }} OwnedProblem
 * `message`, `reason`: of a warning about one of them; empty if there is none.
 */

/**
 * @param {import("./related.js").Owned[]} owned
 * @param {any[]} events of all of them
 * @returns {OwnedProblem[]}
 */
export function ownedProblems(owned, events) {
  /** @type {Map<string, OwnedProblem>} */
  const groups = new Map();
  const blocked = new Set(events.filter(({ type, reason = "" }) => type === "Warning" && BLOCKED.test(reason)).map(({ involvedObject }) => involvedObject?.uid));
  const sick = owned.filter(({ health, row }) => health.problem || health.level === "bad" || (health.level === "progress" && blocked.has(row.uid)));
  const owners = new Set(sick.flatMap((each) => each.row.metadata.ownerReferences ?? []).map((owner) => owner.uid));
  for (const each of sick) {
    // What owns an object with a problem has it too; the lowest one tells why.
    if (owners.has(each.row.uid)) continue;
    const key = `${each.kind.kind} ${each.status}`;
    const group = groups.get(key) ?? { status: each.status, owned: [], message: "", reason: "" };
    groups.set(key, group);
    group.owned.push(each);
  }
  const shown = [...groups.values()].slice(0, GROUPS_MAX);
  for (const group of shown) Object.assign(group, warningOf(new Set(group.owned.map((each) => each.row.uid)), events));
  return shown;
}

/**
 * Return the warning whose message says most: the one of a retry repeats only a part of the first one.
 * @param {Set<string>} uids
 * @param {any[]} events
 */
function warningOf(uids, events) {
  let longest = { message: "", reason: "" };
  for (const { type, involvedObject, message = "", reason = "" } of events) {
    if (type === "Warning" && uids.has(involvedObject?.uid) && message.length > longest.message.length) longest = { message, reason };
  }
  return longest;
}
