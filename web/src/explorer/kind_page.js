/** Page of a kind: its versions, columns, fields with their rules, and an example. It is the same for CRDs and built-in kinds. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Lazy } from "../frame/lazy.js";
import { screen } from "../frame/screen.js";
import { Empty, Loading } from "../frame/states.js";
import { isBuiltIn, pluralTitle, resourceName } from "../discovery/kinds.js";
import { kindAddress, listAddress, objectAddress } from "../routes/routes.js";
import { descriptionOf } from "../schema/schema.js";
import { useSchema } from "../schema/use_schema.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { SchemaTree } from "./schema_tree.js";

const loadExample = () => import("../frame/lazy_parts.js").then((module) => module.Example);
const CRDS = { group: "apiextensions.k8s.io", version: "v1", plural: "customresourcedefinitions" };

/** @typedef {import("../discovery/kinds.js").Kind} Kind */

/** @param {{ route: { group: string, version: string, plural: string } }} props */
export function KindPage({ route }) {
  const listed = session.discovery.find(route);
  if (!listed) return session.discovery.loaded.value ? html`<${Empty} whole icon="box" title=${t("app.not_found")} hint=${t("app.not_found_hint")} />` : html`<${Loading} />`;
  const kind = { ...listed, version: route.version };
  return html`<${Described} key=${`${kind.plural}.${kind.group}/${kind.version}`} kind=${kind} />`;
}

/** @param {{ kind: Kind }} props */
function Described({ kind }) {
  const schema = useSchema(kind);
  const crd = useCrd(kind);
  useSignalEffect(() => {
    screen.value = { title: `${kind.kind} · ${t("kind.title")}`, kind, command: `kubectl explain ${resourceName(kind)} --api-version=${kind.group ? `${kind.group}/` : ""}${kind.version}` };
  });
  const description = descriptionOf(schema);
  return html`<article class="kind-page" aria-labelledby="page-title">
    <header class="toolbar"><a class="crumb" translate=${false} href=${listAddress(kind)}><${Icon} name="back" />${pluralTitle(kind)}</a>
      <div class="title-line"><h1 id="page-title" translate=${false}>${kind.kind}</h1>
        <span class="soft" translate=${false}>${kind.group ? `${kind.group}/` : ""}${kind.version}</span></div></header>
    <div class="home-scroll" tabindex="0" role="region" aria-label=${t("kind.title")}>
      ${description && html`<p class="kind-description" translate=${false}>${visible(description)}</p>`}
      <${Facts} kind=${kind} crd=${crd} />
      ${crd && html`<${Versions} kind=${kind} crd=${crd} />`}
      <section aria-labelledby="fields-title"><h2 id="fields-title">${t("kind.fields")}</h2>
        ${schema ? html`<${SchemaTree} schema=${schema} />` : html`<${Loading} />`}</section>
      ${schema && html`<${Lazy} load=${loadExample} props=${{ kind, schema, crd }} />`}
    </div>
  </article>`;
}

/**
 * Return the CRD of a kind; null for a built-in kind, without the right to read it, and until it is there.
 * @param {Kind} kind
 */
function useCrd(kind) {
  const crd = useSignal(/** @type {any} */ (null));
  useEffect(() => {
    if (isBuiltIn(kind.group)) return;
    const stop = new AbortController();
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${kind.plural}.${kind.group}`;
    session.transport.json(path, { signal: stop.signal }).then((found) => (crd.value = found), () => {});
    return () => stop.abort();
  }, []);
  return crd.value;
}

/** @param {{ kind: Kind, crd: any }} props */
function Facts({ kind, crd }) {
  const facts = [
    [t("kind.plural"), kind.plural], [t("kind.short"), kind.shortNames.join(", ")], [t("kind.categories"), kind.categories.join(", ")],
    [t("kind.conversion"), crd?.spec?.conversion?.strategy ?? ""], [t("kind.stored"), (crd?.status?.storedVersions ?? []).join(", ")],
  ].filter(([, value]) => value);
  return html`<dl class="server-facts">
    <div><dt>${t("kind.scope")}</dt><dd>${t(kind.namespaced ? "kind.namespaced" : "kind.cluster")}</dd></div>
    ${facts.map(([title, value]) => html`<div key=${title}><dt>${title}</dt><dd translate=${false}>${visible(value)}</dd></div>`)}
    ${crd && html`<div><dt>${t("kind.definition")}</dt><dd><a translate=${false} href=${objectAddress(CRDS, "", crd.metadata.name)}>${crd.metadata.name}</a></dd></div>`}
  </dl>`;
}

/** @param {{ kind: Kind, crd: any }} props */
function Versions({ kind, crd }) {
  const versions = crd.spec?.versions ?? [];
  const columns = versions.find((/** @type {any} */ each) => each.name === kind.version)?.additionalPrinterColumns ?? [];
  return html`<section><h2>${t("kind.versions")}</h2>
    <div class="table-frame" role="region" tabindex="0" aria-label=${t("kind.versions")}><table class="plain">
      <thead><tr>${["version", "served", "storage", "deprecated"].map((name) => html`<th scope="col" key=${name}>${t(`kind.${name}`)}</th>`)}</tr></thead>
      <tbody>${versions.map((/** @type {any} */ each) => html`<tr key=${each.name}>
        <th scope="row" translate=${false}>${each.served && each.name !== kind.version ? html`<a href=${kindAddress({ ...kind, version: each.name })}>${visible(each.name)}</a>` : visible(each.name)}</th>
        ${[each.served, each.storage, each.deprecated].map((value, i) => html`<td key=${i}>${t(value ? "kind.yes" : "kind.no")}</td>`)}</tr>`)}</tbody></table></div>
    ${columns.length > 0 && html`<h2>${t("kind.columns")}</h2>
      <div class="table-frame" role="region" tabindex="0" aria-label=${t("kind.columns")}><table class="plain"><thead><tr>${["column", "type", "path", "priority"].map((name) => html`<th scope="col" key=${name}>${t(`kind.${name}`)}</th>`)}</tr></thead>
      <tbody>${columns.map((/** @type {any} */ each) => html`<tr key=${each.name}><th scope="row" translate=${false}>${visible(each.name)}</th><td translate=${false}>${visible(each.type)}</td>
        <td class="message" translate=${false}>${visible(each.jsonPath)}</td><td translate=${false}>${each.priority ?? 0}</td></tr>`)}</tbody></table></div>`}
  </section>`;
}
