/** Tugs of war: fields that two managers change in turn, each putting back its value. */

/**
 * @typedef {{ path: string, managers: string[], times: number, since: string | null }} Tug
 * `times`: changes in turn.
 */

/** Changes of a field that are looked at, and how many of them must be in turn. */
const WINDOW = 10;
const TURNS_MIN = 4;
const TUGS_MAX = 20;

/**
 * Return the fields in a tug of war, the busiest first.
 * @param {import("./revisions.js").Revision[]} revisions the newest first
 * @returns {Tug[]}
 */
export function tugsOf(revisions) {
  /** @type {Map<string, { manager: string, time: string | null, value: string }[]>} */
  const byPath = new Map();
  for (const { fields, actor, time } of revisions) {
    if (!actor.manager) continue;
    for (const { path, after } of fields) {
      const changes = byPath.get(path) ?? [];
      byPath.set(path, changes);
      if (changes.length < WINDOW) changes.push({ manager: actor.manager, time, value: JSON.stringify(after) ?? "" });
    }
  }
  /** @type {Tug[]} */
  const tugs = [];
  for (const [path, changes] of byPath) {
    const turns = turnsOf(changes);
    if (turns.length < TURNS_MIN || !returns(turns)) continue;
    tugs.push({ path, managers: [...new Set(turns.map(({ manager }) => manager))].sort(), times: turns.length, since: turns[turns.length - 1].time });
  }
  return tugs.sort((a, b) => b.times - a.times).slice(0, TUGS_MAX);
}

/**
 * Return the newest changes of which each is by the other one of two managers.
 * @param {{ manager: string, time: string | null, value: string }[]} changes
 */
function turnsOf(changes) {
  let count = Math.min(changes.length, 1);
  while (count < changes.length && changes[count].manager !== changes[count - 1].manager && (count < 2 || changes[count].manager === changes[count - 2].manager)) count++;
  return changes.slice(0, count);
}

/**
 * Return whether a manager puts back a value: otherwise both just count, or note times.
 * @param {{ value: string }[]} turns
 */
function returns(turns) {
  return turns.some(({ value }, i) => i >= 2 && value === turns[i - 2].value);
}
