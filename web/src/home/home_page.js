/** Overview: how many objects there are, and recent warnings. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { screen } from "../frame/screen.js";
import { apiPath, pluralTitle } from "../discovery/kinds.js";
import { listAddress, objectAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { numberFormat, t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { safeMessage } from "../transport/errors.js";
import { countOf } from "./counts.js";

const SHOWN = "pods deployments statefulsets daemonsets jobs cronjobs services ingresses configmaps secrets persistentvolumeclaims nodes namespaces".split(" ");
const WARNINGS_MAX = 12;

export function HomePage() {
  useEffect(() => {
    screen.value = { title: t("home.title"), command: "" };
  }, []);
  const kinds = session.discovery.kinds.value;
  const shown = SHOWN.flatMap((plural) => kinds.filter((kind) => kind.plural === plural && (kind.group === "" || !kind.group.includes(".") || kind.group.endsWith(".k8s.io"))));
  const custom = session.discovery.sections.value.filter((section) => section.id === "custom").flatMap((section) => section.kinds);
  return html`<section class="home" aria-labelledby="page-title">
    <header class="toolbar"><div class="title-line"><h1 id="page-title">${t("home.title")}</h1></div></header>
    <div class="home-scroll">
      <h2>${t("home.counts")}</h2>
      <ul class="tiles" role="list">${shown.map((kind) => html`<${Tile} key=${kind.plural} kind=${kind} />`)}</ul>
      ${custom.length > 0 && html`<h2>${t("home.custom")}</h2>
        <ul class="tiles" role="list">${custom.slice(0, 24).map((kind) => html`<${Tile} key=${kind.plural + kind.group} kind=${kind} />`)}</ul>`}
      <h2>${t("home.warnings")}</h2>
      <${Warnings} />
    </div>
  </section>`;
}

/** @param {{ kind: import("../discovery/kinds.js").Kind }} props */
function Tile({ kind }) {
  const count = useSignal(/** @type {number | null | undefined} */ (undefined));
  useEffect(() => {
    const stop = new AbortController();
    countOf(kind, stop.signal).then((found) => (count.value = found), () => {});
    return () => stop.abort();
  }, [kind]);
  const text = count.value === undefined ? "…" : count.value === null ? "–" : numberFormat.value.format(count.value);
  return html`<li><a class="tile" href=${listAddress(kind)}><span class="tile-count" translate=${false}>${text}</span>
    <span class="tile-kind ellipsis" translate=${false} title=${kind.group || null}>${pluralTitle(kind)}</span></a></li>`;
}

function Warnings() {
  const events = useSignal(/** @type {any[] | null} */ (null));
  const forbidden = useSignal(false);
  useEffect(() => {
    const stop = new AbortController();
    session.transport
      .json(`${apiPath({ group: "", version: "v1", plural: "events" })}?fieldSelector=type%3DWarning&limit=200`, { signal: stop.signal })
      .then((list) => (events.value = newest(list.items)), () => (forbidden.value = !stop.signal.aborted));
    return () => stop.abort();
  }, []);
  if (forbidden.value) return html`<p class="soft">${t("home.forbidden_warnings")}</p>`;
  if (events.value === null) return html`<p class="soft" role="status">${t("app.loading")}</p>`;
  if (events.value.length === 0) return html`<p class="quiet-line"><${Icon} name="good" class="good" />${t("home.no_warnings")}</p>`;
  return html`<ul class="warnings" role="list">${events.value.map((event) => html`<${Warning} key=${event.metadata.uid} event=${event} />`)}</ul>`;
}

/** @param {{ event: any }} props */
function Warning({ event }) {
  const { involvedObject: about = {}, reason, message } = event;
  const kind = session.discovery.ofObject(about.apiVersion ?? "", about.kind);
  const name = `${about.kind}/${about.name}`;
  return html`<li><${Icon} name="warn" class="warn" />
    <span class="warning-reason" translate=${false}>${reason}</span>
    ${kind ? html`<a translate=${false} href=${objectAddress(kind, about.namespace ?? "", about.name)}>${name}</a>` : html`<span translate=${false}>${name}</span>`}
    <span class="warning-message" translate=${false}>${safeMessage(message)}</span>
    <span class="soft"><${Age} at=${event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp} /></span>
  </li>`;
}

/** @param {any[]} items */
function newest(items) {
  const time = (/** @type {any} */ event) => event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? "";
  return items.sort((a, b) => (time(a) < time(b) ? 1 : -1)).slice(0, WARNINGS_MAX);
}
