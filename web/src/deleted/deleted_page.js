/** Page of the deleted objects of a kind: when and by whom each was deleted. Each can be created again. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { pluralTitle } from "../discovery/kinds.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { screen } from "../frame/screen.js";
import { Empty, Loading } from "../frame/states.js";
import { NoHistory } from "../history/records.js";
import { NamespacePicker } from "../lists/namespace_picker.js";
import { chosenNamespaces } from "../lists/namespaces.js";
import { ActionButton } from "../rights/action_button.js";
import { Forbidden, Refused } from "../rights/refused.js";
import { go, query, setQuery } from "../routes/location.js";
import { listAddress, objectAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { RetentionOption } from "../history/retention.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { visible } from "../transport/errors.js";
import { Deletions } from "./deletions.js";
import { RestoreDialog } from "./restore_dialog.js";

const SHOWN = 200;

/** @param {{ route: { group: string, version: string, plural: string } }} props */
export function DeletedPage({ route }) {
  const kind = session.discovery.find(route);
  if (!kind) return session.discovery.loaded.value ? html`<${Empty} whole icon="box" title=${t("app.not_found")} hint=${t("app.not_found_hint")} />` : html`<${Loading} />`;
  const namespaces = query.value.get("ns") ?? "";
  return html`<${KindDeleted} key=${`${kind.plural}.${kind.group} ${namespaces}`} kind=${kind} />`;
}

/** @param {{ kind: import("../discovery/kinds.js").Kind }} props */
function KindDeleted({ kind }) {
  const deletions = useMemo(() => new Deletions(kind, chosenNamespaces(query.peek())), []);
  const restored = useSignal(/** @type {import("./deletions.js").Change | null} */ (null));
  useEffect(() => {
    deletions.older();
    return () => deletions.close();
  }, []);
  useSignalEffect(() => {
    screen.value = { title: t("deleted.title", { kind: pluralTitle(kind) }), kind, command: "" };
  });
  const namespaces = query.value.get("ns") ?? "";
  const words = (query.value.get("q") ?? "").toLowerCase();
  const all = deletions.all.value;
  const found = words ? all.filter(({ object }) => object.metadata.name.includes(words)) : all;
  return html`<section class="list-page" aria-labelledby="page-title">
    <header class="toolbar">
      <a class="crumb" translate=${false} href=${listAddress(kind, { ns: namespaces })}><${Icon} name="back" />${pluralTitle(kind)}</a>
      <div class="title-line"><h1 id="page-title">${t("deleted.title", { kind: pluralTitle(kind) })}</h1>
        ${deletions.loaded.value && html`<span class="count">${t("list.count", { count: found.length })}</span>`}</div>
      <div class="filter-line">${kind.namespaced && html`<${NamespacePicker} />`}
        <div class="filter-box"><${Icon} name="filter" /><input id="filter" type="search" autocomplete="off" spellcheck=${false} aria-label=${t("deleted.filter")} placeholder=${t("deleted.filter")} value=${words}
          onInput=${(/** @type {any} */ event) => setQuery({ q: event.target.value.trim() })} /></div></div>
    </header>
    <${Content} kind=${kind} deletions=${deletions} found=${found} onRestore=${(/** @type {any} */ each) => (restored.value = each)} />
    ${restored.value && html`<${RestoreDialog} kind=${kind} change=${restored.value} onClose=${() => (restored.value = null)}
      onDone=${(/** @type {any} */ object) => go(objectAddress(kind, object.metadata.namespace ?? "", object.metadata.name))} />`}
  </section>`;
}

/** @param {{ kind: import("../discovery/kinds.js").Kind, deletions: Deletions, found: import("./deletions.js").Change[], onRestore: (change: import("./deletions.js").Change) => void }} props */
function Content({ kind, deletions, found, onRestore }) {
  const failed = deletions.failed.value;
  if (failed instanceof NoHistory) return html`<${Empty} icon="history" title=${t("history.none")} hint=${t("history.none_hint")} />`;
  if (failed?.code === 403) return html`<${Forbidden} error=${failed} kind=${kind} />`;
  if (failed) return html`<${Refused} error=${failed} />`;
  if (!deletions.loaded.value) return html`<${Loading} />`;
  const removed = deletions.removed.value;
  if (found.length === 0) return html`<${Empty} icon="trash" title=${t("deleted.none", { kind: pluralTitle(kind) })} hint=${t(removed ? "deleted.none_hint" : "deleted.none_ever")}>${removed && html`<${RetentionOption} />`}<//>`;
  return html`<div class="home-scroll"><${Table} kind=${kind} found=${found.slice(0, SHOWN)} onRestore=${onRestore} />
    ${found.length > SHOWN && html`<p class="history-end">${t("deleted.first", { count: SHOWN })}</p>`}
    ${deletions.more.value ? html`<div class="history-end"><button type="button" class="button" disabled=${deletions.loading.value} onClick=${() => deletions.older()}>${t("deleted.older")}</button></div>`
      : html`<p class="history-end"><${Icon} name=${removed ? "history" : "check"} /><span>${t(removed ? "deleted.end" : "deleted.begin")}${removed && html` <${RetentionOption} />`}</span></p>`}</div>`;
}

/** @param {{ kind: import("../discovery/kinds.js").Kind, found: import("./deletions.js").Change[], onRestore: (change: import("./deletions.js").Change) => void }} props */
function Table({ kind, found, onRestore }) {
  return html`<div class="table-frame" role="region" tabindex="0" aria-label=${t("deleted.list")}><table class="plain deleted">
    <thead><tr><th scope="col">${t("detail.name")}</th>${kind.namespaced && html`<th scope="col" class="secondary">${t("column.namespace")}</th>`}<th scope="col">${t("deleted.when")}</th>
      <th scope="col" class="secondary">${t("deleted.by")}</th><th scope="col"><span class="visually-hidden">${t("deleted.restore")}</span></th></tr></thead>
    <tbody>${found.map((each) => {
      const { name, namespace = "" } = each.object.metadata;
      return html`<tr key=${each.resourceVersion}><th scope="row" class="message" translate=${false}>${visible(name)}</th>
        ${kind.namespaced && html`<td class="secondary" translate=${false}>${visible(namespace)}</td>`}
        <td>${each.time ? html`<${Age} at=${each.time} />` : html`<span class="soft">${t("history.revision", { revision: each.resourceVersion })}</span>`}</td>
        <td class="secondary message" translate=${false}>${visible(each.user ?? (each.userAgent ?? "").split(/[ /]/)[0]) || "–"}</td>
        <td class="end"><${ActionButton} class="button small-button quiet" action=${{ kind, namespace, name: "", verb: "create" }} icon="restart" onPress=${() => onRestore(each)}>${t("deleted.restore")}<span class="visually-hidden" translate=${false}> ${visible(name)}</span><//></td></tr>`;
    })}</tbody></table></div>`;
}
