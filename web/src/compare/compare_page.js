/** Page that compares two objects of a kind, or an object with a manifest that the user pastes. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { LAST_APPLIED } from "../details/secret.js";
import { pluralTitle } from "../discovery/kinds.js";
import { readManifest } from "../edit/manifest.js";
import { withoutServerFields } from "../edit/server_fields.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { screen } from "../frame/screen.js";
import { Empty, Loading } from "../frame/states.js";
import { DifferenceTable } from "../history/difference_table.js";
import { namesOf } from "../palette/entries.js";
import { readObject } from "../past/read.js";
import { Forbidden, Refused } from "../rights/refused.js";
import { query, setQuery } from "../routes/location.js";
import { listAddress, objectAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";

/** @typedef {import("../discovery/kinds.js").Kind} Kind */

/** @param {{ route: { group: string, version: string, plural: string, namespace: string, object: string } }} props */
export function ComparePage({ route }) {
  const kind = session.discovery.find(route);
  if (!kind) return session.discovery.loaded.value ? html`<${Empty} whole icon="box" title=${t("app.not_found")} hint=${t("app.not_found_hint")} />` : html`<${Loading} />`;
  return html`<${Compared} kind=${kind} namespace=${route.namespace} name=${route.object} />`;
}

/** @param {{ kind: Kind, namespace: string, name: string }} props */
function Compared({ kind, namespace, name }) {
  const [pasted, split, only] = ["from", "view", "only"].map((each) => query.value.get(each) !== null);
  const place = placeOf(namespace, name);
  const other = pasted ? "" : (query.value.get("with") ?? "");
  const left = useObject(kind, place, namespace);
  const right = useObject(kind, other, namespace);
  const text = useSignal("");
  const manifest = useMemo(() => readManifest(text.value), [text.value]);
  const parts = manifest.parts.map(({ value }) => value);
  const wanted = pasted ? (parts.find((each) => each.kind === kind.kind && each.metadata?.name === name) ?? parts[0]) : right.object;
  const [before, after] = useMemo(() => [left.object, wanted].map((each) => each && comparable(each, only)), [left.object, wanted, only]);
  useSignalEffect(() => {
    screen.value = { title: `${t("compare.title")} · ${name}`, kind, command: "" };
  });
  if (left.error?.code === 403) return html`<${Forbidden} whole error=${left.error} kind=${kind} verb="get" namespace=${namespace} />`;
  if (left.error) return html`<${Refused} error=${left.error} />`;
  return html`<section class="comparison compare-page" aria-labelledby="page-title">
    <header class="toolbar"><a class="crumb" translate=${false} href=${listAddress(kind, namespace ? { ns: namespace } : {})}><${Icon} name="back" />${pluralTitle(kind)}</a>
      <div class="title-line"><h1 id="page-title">${t("compare.title")}: <a translate=${false} href=${objectAddress(kind, namespace, name)}>${place}</a></h1></div></header>
    <div class="comparison-bar">
      <${Other} kind=${kind} namespace=${namespace} place=${place} other=${other} />
      <${Toggle} name="from" value="text" icon="edit" pressed=${pasted} />
      <div class="spacer" />
      <${Toggle} name="only" value="spec" icon="filter" pressed=${only} />
      <${Toggle} name="view" value="split" icon="columns" pressed=${split} extra="split-toggle" />
    </div>
    ${pasted && html`<p class="hint" id="compare-hint">${t("compare.hint")}</p><textarea class="compare-text" rows="8" spellcheck=${false} aria-label=${t("compare.text")} aria-describedby="compare-hint"
      onInput=${(/** @type {any} */ event) => (text.value = event.target.value)}>${text.peek()}</textarea>`}
    ${pasted && manifest.faults.length > 0 && html`<p class="hint warn" role="alert" translate=${false}>${manifest.faults[0].message}</p>`}
    ${right.error?.code === 403 ? html`<${Forbidden} error=${right.error} kind=${kind} verb="get" />`
      : right.error ? html`<${Refused} error=${right.error} />`
      : before && after ? html`<p class="compare-legend small-text" translate=${false}><span>− ${place}</span><span>+ ${pasted ? placeOf(wanted.metadata?.namespace ?? "", wanted.metadata?.name ?? "") : other}</span></p>
        <${DifferenceTable} before=${before} after=${after} status=${false} split=${split} label=${t("history.lines")} />`
      : other || !left.object ? html`<${Loading} />` : !pasted && html`<p class="difference-none soft">${t("compare.choose_other")}</p>`}
  </section>`;
}

/** @param {{ name: string, value: string, icon: string, pressed: boolean, extra?: string }} props */
function Toggle({ name, value, icon, pressed, extra = "" }) {
  return html`<button type="button" class=${`toggle small-button ${extra}`} aria-pressed=${pressed} onClick=${() => setQuery({ [name]: pressed ? "" : value })}>
    <${Icon} name=${icon} />${t(name === "view" ? "history.split" : `compare.${value}_toggle`)}</button>`;
}

/** @param {{ kind: Kind, namespace: string, place: string, other: string }} props */
function Other({ kind, namespace, place, other }) {
  const names = useSignal(/** @type {string[]} */ ([]));
  useEffect(() => {
    const stop = new AbortController();
    // A user without the right to list all namespaces may list this one.
    namesOf(kind, stop.signal).catch(() => namesOf(kind, stop.signal, namespace)).then((/** @type {any[]} */ found) => {
      names.value = found.map((each) => placeOf(each.namespace ?? "", each.name)).filter((each) => each !== place);
    }, () => {});
    return () => stop.abort();
  }, []);
  return html`<label class="comparison-with"><span>${t("history.compare")}</span>
    <input type="text" list="compare-names" autocomplete="off" spellcheck=${false} value=${other} placeholder=${kind.namespaced ? t("compare.place") : t("detail.name")}
      onChange=${(/** @type {any} */ event) => setQuery({ with: event.target.value.trim(), from: "" })} />
    <datalist id="compare-names">${names.value.map((each) => html`<option key=${each} value=${each} />`)}</datalist></label>`;
}

/**
 * Read an object. Without a place there is none.
 * @param {Kind} kind
 * @param {string} place
 * @param {string} near namespace of a place without one
 */
function useObject(kind, place, near) {
  const found = useSignal(/** @type {{ object: any, error: any }} */ ({ object: null, error: null }));
  useEffect(() => {
    found.value = { object: null, error: null };
    if (!place) return undefined;
    const stop = new AbortController();
    const [name, namespace = near] = place.split("/").reverse();
    readObject(kind, namespace, name, { signal: stop.signal }).then(
      (object) => (found.value = { object, error: null }),
      (error) => stop.signal.aborted || (found.value = { object: null, error }),
    );
    return () => stop.abort();
  }, [place]);
  return found.value;
}

/** @param {string} namespace @param {string} name */
function placeOf(namespace, name) {
  return namespace ? `${namespace}/${name}` : name;
}

/**
 * Return an object without its place, and without what the server and kubectl write.
 * @param {any} object
 * @param {boolean} only without labels, annotations and other metadata
 */
function comparable(object, only) {
  const copy = withoutServerFields(object);
  const { name, namespace, annotations, ...metadata } = copy.metadata;
  const { [LAST_APPLIED]: _, ...kept } = annotations ?? {};
  return { ...copy, metadata: only ? {} : Object.keys(kept).length ? { ...metadata, annotations: kept } : metadata };
}
