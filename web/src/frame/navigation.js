/** Menu of kinds. It follows the server: a new CRD appears by itself. */
import { useSignal } from "@preact/signals";
import { address, query } from "../routes/location.js";
import { SERVER_PAGES, homeAddress, listAddress, routeOf, serverAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { pluralTitle } from "../discovery/kinds.js";
import { html } from "./html.js";
import { Icon } from "./icons.js";

/** Sections that are open at first. */
const OPEN = new Set(["workloads", "network", "configuration", "storage", "cluster", "custom"]);

/** @param {{ open: import("@preact/signals").Signal<boolean> }} props */
export function Navigation({ open }) {
  const search = useSignal("");
  const route = routeOf(address.value);
  const current = "plural" in route ? `${route.plural}.${route.group}` : "";
  const wanted = search.value.toLowerCase();
  const matches = (/** @type {import("../discovery/kinds.js").Kind} */ kind) =>
    !wanted || kind.kind.toLowerCase().includes(wanted) || kind.plural.includes(wanted) || kind.group.includes(wanted) || kind.shortNames.includes(wanted);
  const sections = session.discovery.sections.value
    .map((section) => ({ ...section, kinds: section.kinds.filter(matches) }))
    .filter((section) => section.kinds.length);
  return html`<nav id="kinds" class=${open.value ? "side open" : "side"} aria-label=${t("nav.label")}>
    <div class="side-search"><${Icon} name="search" /><input type="search" aria-label=${t("nav.filter")} placeholder=${t("nav.filter")} autocomplete="off"
      value=${search.value} onInput=${(/** @type {any} */ event) => (search.value = event.target.value.trim())} /></div>
    <div class="side-scroll">
      <a class="side-link home-link" href=${homeAddress()} aria-current=${route.name === "home" ? "page" : null}>${t("app.home")}</a>
      <a class="side-link home-link" href=${serverAddress(SERVER_PAGES[0])} aria-current=${route.name === "server" || route.name === "sessions" || route.name === "controllers" ? "page" : null}>${t("server.title")}</a>
      ${sections.map((section) => html`<${Section} key=${section.id + section.group} section=${section} current=${current} searching=${wanted !== ""} />`)}
      ${sections.length === 0 && wanted && html`<p class="hint">${t("nav.none")}</p>`}
    </div>
  </nav>`;
}

/** @param {{ section: import("../discovery/kinds.js").Section, current: string, searching: boolean }} props */
function Section({ section, current, searching }) {
  const holds = section.kinds.some((kind) => `${kind.plural}.${kind.group}` === current);
  const open = useSignal(OPEN.has(section.id) || holds);
  const shown = open.value || searching;
  const id = `section-${section.id}-${section.group}`;
  const namespaces = query.value.get("ns") ?? "";
  return html`<div class="side-section">
    <button type="button" class="side-head" aria-expanded=${shown} aria-controls=${id} onClick=${() => (open.value = !open.value)}>
      <${Icon} name=${shown ? "down" : "right"} />
      ${section.group ? html`<span class="ellipsis" translate=${false} title=${section.group}>${section.group}</span>` : html`<span>${t(`section.${section.id}`)}</span>`}
    </button>
    <ul id=${id} hidden=${!shown}>
      ${section.kinds.map((kind) => html`<li key=${kind.plural + kind.group}><a class="side-link" translate=${false} title=${kind.group || null}
        href=${listAddress(kind, kind.namespaced ? { ns: namespaces } : {})}
        aria-current=${`${kind.plural}.${kind.group}` === current ? "page" : null}>${pluralTitle(kind)}</a></li>`)}
    </ul>
  </div>`;
}
