/** Problems of what an object owns, grouped by state, each with what the newest warnings say about it. */

const GROUPS_MAX = 5;

/**
 * @typedef {{ status: string, owned: import("./related.js").Owned[], message: string }} OwnedProblem
 */

/**
 * @param {import("./related.js").Owned[]} owned
 * @param {any[]} events of all of them
 * @returns {OwnedProblem[]}
 */
export function ownedProblems(owned, events) {
  /** @type {Map<string, OwnedProblem>} */
  const groups = new Map();
  const sick = owned.filter((each) => each.health.problem || each.health.level === "bad");
  const owners = new Set(sick.flatMap((each) => each.row.metadata.ownerReferences ?? []).map((owner) => owner.uid));
  for (const each of sick) {
    // What owns an object with a problem has it too; the lowest one tells why.
    if (owners.has(each.row.uid)) continue;
    const key = `${each.kind.kind} ${each.status}`;
    const group = groups.get(key) ?? { status: each.status, owned: [], message: "" };
    groups.set(key, group);
    group.owned.push(each);
  }
  const shown = [...groups.values()].slice(0, GROUPS_MAX);
  for (const group of shown) group.message = messageOf(new Set(group.owned.map((each) => each.row.uid)), events);
  return shown;
}

/**
 * Return the message of the warnings that says most: the one of a retry repeats only a part of the first one.
 * @param {Set<string>} uids
 * @param {any[]} events
 */
function messageOf(uids, events) {
  let longest = "";
  for (const { type, involvedObject, message = "" } of events) {
    if (type === "Warning" && uids.has(involvedObject?.uid) && message.length > longest.length) longest = message;
  }
  return longest;
}
