/** Options of the logs. All of them are in the address. */
import { query } from "../routes/location.js";
import { LEVELS } from "./line.js";

/** Values of `since` and their seconds. The first one is the default: the newest lines. */
export const SINCE = { tail: 0, "5m": 300, "1h": 3600, "24h": 86_400, all: 0 };
/** Lines of each container at first, by default. */
const TAIL = 1000;

/**
 * @typedef {object} Options
 * @property {string} text filter
 * @property {boolean} only only lines that match
 * @property {string} level
 * @property {string[]} pods names; empty: the newest ones
 * @property {string} container empty: all
 * @property {boolean} previous
 * @property {keyof typeof SINCE} since
 * @property {boolean} times
 * @property {boolean} wrap
 * @property {boolean} colours
 */

/** @returns {Options} */
export function optionsOf(parameters = query.value) {
  const level = parameters.get("level") ?? "";
  const since = parameters.get("since") ?? "";
  return {
    text: parameters.get("q") ?? "",
    only: parameters.get("only") === "1",
    level: LEVELS.includes(level) ? level : "",
    pods: (parameters.get("pods") ?? "").split(",").filter(Boolean),
    container: parameters.get("container") ?? "",
    previous: parameters.get("previous") === "1",
    since: since in SINCE ? /** @type {keyof typeof SINCE} */ (since) : "tail",
    times: parameters.get("times") === "1",
    wrap: parameters.get("wrap") !== "0",
    colours: parameters.get("colours") !== "0",
  };
}

/**
 * Return the path of a log.
 * @param {string} namespace
 * @param {import("./line.js").Source} source
 * @param {Options} options
 * @param {{ follow: boolean, timestamps: boolean, after?: string, limitBytes?: number }} how `after`: key of the last line that was read
 */
export function logPath(namespace, { pod, container }, options, { follow, timestamps, after = "", limitBytes = 0 }) {
  const parameters = new URLSearchParams({ container });
  if (follow && !options.previous) parameters.set("follow", "true");
  if (options.previous) parameters.set("previous", "true");
  if (timestamps) parameters.set("timestamps", "true");
  if (limitBytes) parameters.set("limitBytes", String(limitBytes));
  if (after) parameters.set("sinceTime", `${after.replace(/\.?0*$/, "")}Z`);
  else if (SINCE[options.since]) parameters.set("sinceSeconds", String(SINCE[options.since]));
  else if (options.since === "tail") parameters.set("tailLines", String(TAIL));
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log?${parameters}`;
}
