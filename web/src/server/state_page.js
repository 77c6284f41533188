/** State of the server: storage, certificates, the servers of the cluster, and the holders of leases. */
import { apiPath } from "../discovery/kinds.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Loading } from "../frame/states.js";
import { objectAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";
import { Age, fullInstant, humanDuration } from "../time/age.js";
import { now } from "../time/clock.js";
import { visible } from "../transport/errors.js";
import { metricsOf } from "./exposition.js";
import { flagsOf, heldLeases } from "./leases.js";
import { usePolled } from "./polled.js";
import { ServerRefused } from "./server_refused.js";
import { humanBytes } from "./units.js";

const LEASES = { group: "coordination.k8s.io", version: "v1", plural: "leases" };
const LEASES_MAX = 500;
const AGAIN_MS = 10_000;
const EXPIRY = "sampan_certificate_expiration_timestamp_seconds";
const SIZE = "apiserver_storage_size_bytes";
const REVISION = "apiserver_watch_cache_resource_version";
const COMPACTED = "sampan_storage_compacted_revision";
const NEAR_S = 30 * 24 * 3600;
const SETTINGS = ["storage", "data", "etcd-servers", "history-retention", "history-bytes"];

export function StatePage() {
  return html`<p class="soft">${t("server.state_hint")}</p>
    <section><h2>${t("server.storage")}</h2><${Storage} /></section>
    <section><h2>${t("server.leases")}</h2><${Leases} /></section>`;
}

function Storage() {
  const state = usePolled(async (transport, signal) => {
    const [metrics, flags] = await Promise.all([
      transport.text("/metrics", { signal }),
      transport.text("/flagz", { signal }).catch(() => ""),
    ]);
    return { metrics: metricsOf(metrics, (name) => [EXPIRY, SIZE, REVISION, COMPACTED].includes(name)), flags: flagsOf(flags) };
  }, AGAIN_MS);
  const { found, error } = state.value;
  if (!found) return error ? html`<${ServerRefused} error=${error} path="/metrics" />` : html`<${Loading} />`;
  const { metrics, flags } = found;
  const newest = (/** @type {string} */ name) => Math.max(-1, ...(metrics.get(name) ?? []).map(({ value }) => value));
  const facts = [
    ...SETTINGS.filter((name) => isShown(name, flags)).map((name) => ({ title: `--${name}`, data: true, value: /** @type {string} */ (flags.get(name)) })),
    ...(newest(SIZE) > 0 ? [{ title: t("server.size"), data: false, value: humanBytes(newest(SIZE)) }] : []),
    ...(newest(REVISION) > 0 ? [{ title: t("server.revision"), data: false, value: String(newest(REVISION)) }] : []),
    ...(newest(COMPACTED) > 0 ? [{ title: t("server.compacted"), data: false, value: String(newest(COMPACTED)) }] : []),
  ];
  return html`<dl class="server-facts">${facts.map(({ title, data, value }) => html`<div key=${title}><dt translate=${data ? false : null}>${title}</dt><dd translate=${false}>${visible(value)}</dd></div>`)}</dl>
    <h2>${t("server.certificates")}</h2>
    <${Certificates} samples=${metrics.get(EXPIRY) ?? []} />`;
}

/**
 * Return whether a setting has an effect.
 * @param {string} name
 * @param {Map<string, string>} flags
 */
function isShown(name, flags) {
  if (name === "etcd-servers" && flags.get("storage") !== "etcd") return false;
  return !["", "0"].includes(flags.get(name) ?? "");
}

/** @param {{ samples: import("./exposition.js").Sample[] }} props */
function Certificates({ samples }) {
  if (samples.length === 0) return html`<p class="none">${t("server.certificates_none")}</p>`;
  const sorted = [...samples].sort((a, b) => a.value - b.value);
  return html`<ul class="home-list certificates" role="list">${sorted.map(({ labels, value }) => {
    const left = value - now.value / 1000;
    const level = left < 0 ? "bad" : left < NEAR_S ? "warn" : "good";
    return html`<li key=${labels.certificate + labels.subject}><span class="home-what"><strong translate=${false}>${visible(labels.certificate)}</strong> <span class="soft" translate=${false}>${visible(labels.subject ?? "")}</span></span>
      <span class=${`health ${level}`} title=${fullInstant(value * 1000)}><${Icon} name=${level} />${left < 0 ? t("server.expired") : t("server.expires_in", { time: humanDuration(left) })}</span></li>`;
  })}</ul>`;
}

function Leases() {
  const state = usePolled(
    async (transport, signal) => (await transport.json(`${apiPath(/** @type {any} */ (LEASES))}?limit=${LEASES_MAX}&fieldSelector=${encodeURIComponent("metadata.namespace!=kube-node-lease")}`, { signal })).items,
    AGAIN_MS,
  );
  const { found, error } = state.value;
  if (!found) return error ? html`<${ServerRefused} error=${error} path="/apis/coordination.k8s.io/v1/leases" />` : html`<${Loading} />`;
  const held = heldLeases(found, now.value);
  if (held.length === 0) return html`<p class="none">${t("server.leases_none")}</p>`;
  return html`<div class="table-frame" role="region" tabindex="0" aria-label=${t("server.leases")}><table class="plain">
    <thead><tr>${["lease", "holder", "state", "acquired", "renewed", "transitions"].map((name) => html`<th scope="col" key=${name} class=${name === "transitions" ? "number" : null}>${t(`server.lease.${name}`)}</th>`)}</tr></thead>
    <tbody>${held.map((each) => html`<tr key=${`${each.namespace}/${each.name}`}>
      <th scope="row"><a translate=${false} href=${objectAddress(LEASES, each.namespace, each.name)}>${visible(each.name)}</a> <span class="soft small-text" translate=${false}>${visible(each.namespace)}</span></th>
      <td class="message" translate=${false}>${visible(each.holder)}</td>
      <td>${each.expired ? html`<span class="health warn"><${Icon} name="warn" />${t("server.lease.expired")}</span>` : html`<span class="health good"><${Icon} name="good" />${t(each.server ? "server.lease.server" : "server.lease.held")}</span>`}</td>
      <td>${each.acquired ? html`<${Age} at=${each.acquired} />` : "–"}</td><td><${Age} at=${each.renewed} /></td><td class="number" translate=${false}>${each.transitions}</td></tr>`)}</tbody>
  </table></div>`;
}
