/** Charts of the server: the lines of each, from two readings of its metrics. */

/**
 * @typedef {import("./exposition.js").Metrics} Metrics
 * @typedef {import("./exposition.js").Sample} Sample
 * @typedef {{ at: number, metrics: Metrics }} Reading `at` in seconds
 * @typedef {Map<string, number>} Values values by the name of a line
 * @typedef {"rate" | "seconds" | "count" | "bytes" | "cores"} Unit
 * @typedef {{ id: string, unit: Unit, names: string[], values: (now: Reading, before: Reading) => Values }} Chart
 */

/** @type {readonly Chart[]} */
export const CHARTS = [
  { id: "verbs", unit: "rate", names: ["apiserver_request_total"], values: rate("apiserver_request_total", ({ verb }) => verb) },
  { id: "codes", unit: "rate", names: ["apiserver_request_total"], values: rate("apiserver_request_total", ({ code }) => code) },
  { id: "resources", unit: "rate", names: ["apiserver_request_total"], values: rate("apiserver_request_total", ({ resource }) => resource) },
  {
    id: "latency", unit: "seconds", names: ["apiserver_request_duration_seconds_bucket"],
    values: quantiles("apiserver_request_duration_seconds_bucket", ({ verb }) => verb !== "WATCH" && verb !== "CONNECT"),
  },
  { id: "watches", unit: "count", names: ["apiserver_longrunning_requests"], values: level("apiserver_longrunning_requests", ({ verb, resource }) => (verb === "WATCH" ? resource : "")) },
  { id: "events", unit: "rate", names: ["apiserver_watch_events_total"], values: rate("apiserver_watch_events_total", ({ resource, kind }) => resource || kind) },
  { id: "store", unit: "rate", names: ["etcd_request_duration_seconds_count"], values: rate("etcd_request_duration_seconds_count", ({ operation }) => operation) },
  { id: "store_latency", unit: "seconds", names: ["etcd_request_duration_seconds_bucket"], values: quantiles("etcd_request_duration_seconds_bucket", () => true) },
  { id: "objects", unit: "count", names: ["apiserver_resource_objects"], values: level("apiserver_resource_objects", ({ resource }) => resource) },
  { id: "queues", unit: "count", names: ["workqueue_depth"], values: level("workqueue_depth", ({ name }) => name) },
  {
    id: "fairness", unit: "count", names: ["apiserver_flowcontrol_current_inqueue_requests", "apiserver_flowcontrol_current_executing_requests"],
    values: (now) => new Map([
      ["executing", total(now, "apiserver_flowcontrol_current_executing_requests")],
      ["waiting", total(now, "apiserver_flowcontrol_current_inqueue_requests")],
    ]),
  },
  { id: "loop", unit: "seconds", names: ["sampan_event_loop_delay_seconds_bucket"], values: quantiles("sampan_event_loop_delay_seconds_bucket", () => true) },
  { id: "processor", unit: "cores", names: ["process_cpu_seconds_total"], values: rate("process_cpu_seconds_total", () => "processor") },
  { id: "memory", unit: "bytes", names: ["process_resident_memory_bytes"], values: level("process_resident_memory_bytes", () => "memory") },
];

/** Names of all samples that the charts read. */
export const NAMES = new Set(CHARTS.flatMap((chart) => chart.names));

/**
 * Return the function for increases per second, by a name that the labels give; "" leaves a sample out.
 * @param {string} name
 * @param {(labels: Record<string, string>) => string} lineOf
 * @returns {Chart["values"]}
 */
function rate(name, lineOf) {
  return (now, before) => {
    const seconds = now.at - before.at;
    const then = sums(before, name, lineOf);
    /** @type {Values} */
    const found = new Map();
    // A counter that has fallen was reset by a restart.
    for (const [line, value] of sums(now, name, lineOf)) found.set(line, Math.max(0, value - (then.get(line) ?? 0)) / seconds);
    return found;
  };
}

/** @param {string} name @param {(labels: Record<string, string>) => string} lineOf @returns {Chart["values"]} */
function level(name, lineOf) {
  return (now) => sums(now, name, lineOf);
}

/**
 * Return the function for the median and the 99th percentile of what was observed between two readings.
 * @param {string} name the samples of the buckets
 * @param {(labels: Record<string, string>) => boolean} counts
 * @returns {Chart["values"]}
 */
function quantiles(name, counts) {
  const lineOf = (/** @type {Record<string, string>} */ labels) => (counts(labels) ? labels.le : "");
  return (now, before) => {
    const then = sums(before, name, lineOf);
    const buckets = [...sums(now, name, lineOf)].map(([le, value]) => ({ bound: le === "+Inf" ? Infinity : Number(le), count: value - (then.get(le) ?? 0) }));
    buckets.sort((a, b) => a.bound - b.bound);
    return new Map([["median", quantile(buckets, 0.5)], ["p99", quantile(buckets, 0.99)]]);
  };
}

/**
 * Return a quantile of a histogram, as Prometheus estimates it; NaN without observations.
 * @param {{ bound: number, count: number }[]} buckets with counts up to each bound, in their order
 * @param {number} q
 */
export function quantile(buckets, q) {
  const all = buckets.at(-1)?.count ?? 0;
  if (!(all > 0)) return NaN;
  const rank = q * all;
  const i = buckets.findIndex(({ count }) => count >= rank);
  const { bound, count } = buckets[i];
  const { bound: low, count: below } = i > 0 ? buckets[i - 1] : { bound: 0, count: 0 };
  return bound === Infinity ? low : low + (bound - low) * ((rank - below) / (count - below));
}

/** @param {Reading} reading @param {string} name @param {(labels: Record<string, string>) => string} lineOf */
function sums(reading, name, lineOf) {
  /** @type {Values} */
  const found = new Map();
  for (const { labels, value } of reading.metrics.get(name) ?? []) {
    const line = lineOf(labels);
    if (line) found.set(line, (found.get(line) ?? 0) + value);
  }
  return found;
}

/** @param {Reading} reading @param {string} name */
function total(reading, name) {
  return (reading.metrics.get(name) ?? []).reduce((sum, { value }) => sum + value, 0);
}
