/** Tables of priority and fairness, as the debugging pages of an API server print them: columns separated by commas. */

/**
 * @typedef {{ name: string, idle: boolean, waiting: number, executing: number, dispatched: number, rejected: number, timedOut: number,
 *   cancelled: number }} Level
 * @typedef {{ level: string, schema: string, queue: number, arrived: string, started: string, waits: boolean, user: string, verb: string,
 *   path: string }} Waiting a request that executes or waits
 */

const NEVER = "0001-01-01T00:00:00Z";
/** Columns of a request before and after the name of its user, which may contain commas. */
const BEFORE_USER = 10;
const AFTER_USER = 7;

/**
 * Return the priority levels of `dump_priority_levels`, the busiest first.
 * @param {string} text
 * @returns {Level[]}
 */
export function levelsOf(text) {
  const levels = rowsOf(text).map(([name, , idle, , ...counts]) => {
    const [waiting, executing, dispatched, rejected, timedOut, cancelled] = counts.map(Number);
    return { name, idle: idle === "true", waiting, executing, dispatched, rejected, timedOut, cancelled };
  });
  return levels.sort((a, b) => b.waiting - a.waiting || b.executing - a.executing || b.dispatched - a.dispatched || (a.name < b.name ? -1 : 1));
}

/**
 * Return the requests of `dump_requests?includeRequestDetails=1`; those that wait first, the oldest first.
 * @param {string} text
 * @returns {Waiting[]}
 */
export function requestsOf(text) {
  const requests = rowsOf(text).filter((row) => row.length > BEFORE_USER + AFTER_USER).map((row) => {
    const [level, schema, queue, , , arrived] = row;
    const started = row[BEFORE_USER - 1];
    const [verb, path] = row.slice(-AFTER_USER);
    const user = row.slice(BEFORE_USER, -AFTER_USER).join(",");
    return { level, schema, queue: Number(queue), arrived, started, waits: started === NEVER, user, verb, path };
  });
  return requests.sort((a, b) => Number(b.waits) - Number(a.waits) || (a.arrived < b.arrived ? -1 : 1));
}

/** @param {string} text */
function rowsOf(text) {
  return text.split("\n").slice(1).filter(Boolean).map((line) => line.split(",").map((cell) => cell.trim()));
}
