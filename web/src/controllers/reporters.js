/** Reporters: processes whose controllers the page shows. The server itself, and operators that a Lease announces. */
import { isAllowed, isPathAllowed } from "../rights/access.js";
import { session } from "../session/session.js";
import { StatusError } from "../transport/errors.js";

export const PATH = "/debug/controllers";
const ANNOTATION = "operator.sampan.dev/controllers";
const KEY_HEADER = "X-Sampan-Controllers-Key";
const LEASES = { group: "coordination.k8s.io", version: "v1", plural: "leases" };
const PODS = { group: "", version: "v1", plural: "pods" };
const LEASES_PATH = `/apis/coordination.k8s.io/v1/leases?labelSelector=${encodeURIComponent(ANNOTATION)}&limit=100`;
const KEPT_MS = 5000;
/** Time after the end of a Lease until its process counts as ended: clocks differ. */
const MARGIN_MS = 60_000;
/** Names of Kubernetes objects. Others could lead the request to another path. */
const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * @typedef {object} Reporter
 * @property {string} id `server`, or namespace and name of the Lease
 * @property {string} title
 * @property {string} path empty if no proxy reaches the process
 * @property {Record<string, string>} headers
 * @property {"" | "outside" | "no_leader" | "proxy" | "path" | "command"} hidden reason why the page cannot read its report
 * @property {{ namespace: string, name: string, holder: string, pod: string, host: string } | null} lease
 */

/** @type {{ at: number, user: string, found: Promise<Found> } | null} */
let known = null;

/** @typedef {{ reporters: Reporter[], mayListLeases: boolean }} Found */

/**
 * Return the reporters. They are found again after some seconds.
 * @returns {Promise<Found>}
 */
export function findReporters() {
  const user = session.login.peek()?.user.username ?? "";
  if (!known || known.user !== user || Date.now() - known.at > KEPT_MS) {
    known = { at: Date.now(), user, found: find() };
    known.found.catch(() => (known = null));
  }
  return known.found;
}

/** @returns {Promise<Found>} */
async function find() {
  const [mayReadPath, mayListLeases] = await Promise.all([isPathAllowed(PATH, "get"), isAllowed(LEASES, "", "", "list")]);
  /** @type {Reporter} */
  const server = { id: "server", title: "", path: PATH, headers: {}, hidden: mayReadPath ? "" : "path", lease: null };
  if (!mayListLeases) return { reporters: [server], mayListLeases };
  const leases = await session.transport.json(LEASES_PATH);
  const operators = (leases.items ?? []).map((/** @type {any} */ each) => reporterOf(each, Date.now())).filter((/** @type {Reporter | null} */ each) => each !== null);
  await Promise.all(operators.map(checkRight));
  return { reporters: [server, ...operators], mayListLeases };
}

/** @param {Reporter} reporter */
async function checkRight(reporter) {
  if (reporter.hidden || !reporter.lease) return;
  const { namespace, pod } = reporter.lease;
  // Only `sampan dashboard` has a context. It passes nothing to Pods.
  if (session.login.peek()?.server?.context) reporter.hidden = "command";
  else if (!(await isAllowed(PODS, namespace, pod, "get", "proxy"))) reporter.hidden = "proxy";
}

/**
 * Return the reporter that a Lease announces. The Pod must be in the namespace of the Lease: a Lease may not lead the
 * page to other places. A process without leader election has a Lease of its own, which means nothing after its end.
 * @param {any} lease
 * @param {number} nowMs
 * @returns {Reporter | null}
 */
export function reporterOf(lease, nowMs) {
  const { namespace, name, annotations, labels } = lease.metadata ?? {};
  const place = parsed(annotations?.[ANNOTATION]);
  const { holderIdentity, renewTime, leaseDurationSeconds } = lease.spec ?? {};
  const holder = Date.parse(renewTime) + leaseDurationSeconds * 1000 + MARGIN_MS < nowMs ? "" : String(holderIdentity ?? "");
  if (!place || (!holder && labels?.[ANNOTATION] === "process")) return null;
  const { pod = "", port, scheme, key } = place;
  const reachable = place.namespace === namespace && NAME.test(pod) && Number.isInteger(port) && port > 0 && port < 65_536;
  const upstream = `${scheme === "http" ? "http" : "https"}:${pod}:${port}`;
  return {
    id: `${namespace}/${name}`,
    title: labels?.[ANNOTATION] === "process" ? name.replace(/-reports-\d$/, "") : name,
    path: reachable ? `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(upstream)}/proxy${PATH}` : "",
    headers: reachable && typeof key === "string" && /^[\w-]{1,200}$/.test(key) ? { [KEY_HEADER]: key } : {},
    hidden: holder === "" ? "no_leader" : reachable ? "" : "outside",
    lease: { namespace, name, holder, pod: reachable ? pod : "", host: `${place.host ?? ""}${port ? `:${port}` : ""}` },
  };
}

/** @param {string | undefined} text */
function parsed(text) {
  try {
    const found = JSON.parse(text ?? "null");
    return found && typeof found === "object" ? found : null;
  } catch {
    return null;
  }
}

/**
 * Read a report. Return null if it has not changed.
 * @param {Reporter} reporter
 * @param {Record<string, string>} query
 * @param {string} etag of the report that the page has
 * @param {AbortSignal} [signal]
 */
export async function readReport(reporter, query, etag = "", signal = undefined) {
  const parameters = new URLSearchParams(query).toString();
  const headers = etag ? { ...reporter.headers, "If-None-Match": etag } : reporter.headers;
  let read = "";
  const onHeaders = (/** @type {Headers} */ found) => (read = found.get("ETag") ?? "");
  const report = await session.transport.json(parameters ? `${reporter.path}?${parameters}` : reporter.path, { headers, onHeaders, signal });
  if (report === null) return null;
  if (typeof report !== "object") throw new StatusError(500, { message: "the report is no object" });
  return { report, etag: read };
}
