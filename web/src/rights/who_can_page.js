/** Page "who can": the subjects that may do something, and the role and the binding that permit it. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { apiPath } from "../discovery/kinds.js";
import { html } from "../frame/html.js";
import { Loading } from "../frame/states.js";
import { namespaceNames } from "../lists/namespaces.js";
import { query, setQuery } from "../routes/location.js";
import { objectAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { ServerRefused } from "../server/server_refused.js";
import { grantsOf, titleOf } from "./who_can.js";

const GROUP = { group: "rbac.authorization.k8s.io", version: "v1" };
const PLURALS = /** @type {const} */ (["clusterroles", "roles", "clusterrolebindings", "rolebindings"]);
const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "impersonate", "bind", "escalate", "approve", "sign"];
const PAGE = 1000;
const SHOWN_MAX = 500;

export function WhoCanPage() {
  const rbac = useSignal(/** @type {import("./who_can.js").Rbac | null} */ (null));
  const refused = useSignal(/** @type {any} */ (null));
  useEffect(() => {
    const stop = new AbortController();
    Promise.all(PLURALS.map((plural) => all(plural, stop.signal))).then(
      ([clusterRoles, roles, clusterRoleBindings, roleBindings]) => (rbac.value = { clusterRoles, roles, clusterRoleBindings, roleBindings }),
      (error) => !stop.signal.aborted && (refused.value = error),
    );
    return () => stop.abort();
  }, []);
  const action = useComputed(() => {
    const [resource, subresource = ""] = (query.value.get("resource") ?? "pods").split("/");
    const [plural, ...group] = resource.split(".");
    return { verb: query.value.get("verb") ?? "get", plural, group: group.join("."), subresource, name: query.value.get("name") ?? "", namespace: query.value.get("in") ?? "" };
  });
  const grants = useComputed(() => (rbac.value ? grantsOf(rbac.value, action.value) : []));
  if (refused.value) return html`<${ServerRefused} error=${refused.value} path="rbac.authorization.k8s.io" />`;
  return html`<p class="soft">${t("who.hint")}</p>
    <${Form} action=${action.value} />
    ${rbac.value === null ? html`<${Loading} />` : html`<div role="status"><h2>${t("who.count", { count: grants.value.length })}</h2></div><${Grants} grants=${grants.value} />`}`;
}

/** @param {string} plural @param {AbortSignal} signal */
async function all(plural, signal) {
  const items = [];
  for (let token = ""; ; ) {
    const from = token ? `&continue=${encodeURIComponent(token)}` : "";
    const list = await session.transport.json(`${apiPath(/** @type {any} */ ({ ...GROUP, plural }))}?limit=${PAGE}${from}`, { signal });
    items.push(...list.items);
    token = list.metadata?.continue ?? "";
    if (!token) return items;
  }
}

/** @param {{ action: import("./who_can.js").Action }} props */
function Form({ action }) {
  const value = (/** @type {any} */ event) => event.target.value.trim();
  const resource = `${action.plural}${action.group ? `.${action.group}` : ""}${action.subresource ? `/${action.subresource}` : ""}`;
  const kinds = session.discovery.kinds.value.map(({ plural, group }) => `${plural}${group ? `.${group}` : ""}`);
  return html`<form class="who-form" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <label><span>${t("who.verb")}</span><input type="text" list="who-verbs" translate=${false} value=${action.verb} onChange=${(/** @type {Event} */ event) => setQuery({ verb: value(event) })} /></label>
    <label><span>${t("who.resource")}</span><input type="text" list="who-resources" translate=${false} value=${resource} onChange=${(/** @type {Event} */ event) => setQuery({ resource: value(event) })} /></label>
    <label><span>${t("who.name")}</span><input type="text" translate=${false} placeholder=${t("who.any_name")} value=${action.name} onChange=${(/** @type {Event} */ event) => setQuery({ name: value(event) })} /></label>
    <label><span>${t("who.namespace")}</span><input type="text" list="who-namespaces" translate=${false} placeholder=${t("who.cluster")} value=${action.namespace} onChange=${(/** @type {Event} */ event) => setQuery({ in: value(event) })} /></label>
    <datalist id="who-verbs">${VERBS.map((verb) => html`<option key=${verb} value=${verb} />`)}</datalist>
    <datalist id="who-resources">${kinds.map((kind) => html`<option key=${kind} value=${kind} />`)}</datalist>
    <datalist id="who-namespaces">${(namespaceNames.value ?? []).map((name) => html`<option key=${name} value=${name} />`)}</datalist>
  </form>`;
}

/** @param {{ grants: import("./who_can.js").Grant[] }} props */
function Grants({ grants }) {
  if (grants.length === 0) return html`<p class="none">${t("who.none")}</p>`;
  const link = (/** @type {string} */ kind, /** @type {string} */ namespace, /** @type {string} */ name) =>
    html`<a translate=${false} href=${objectAddress({ ...GROUP, plural: `${kind.toLowerCase()}s` }, kind.startsWith("Cluster") ? "" : namespace, name)}>${visible(name)}</a>`;
  return html`<div class="table-frame" role="region" tabindex="0" aria-label=${t("who.grants")}><table class="plain">
    <thead><tr>${["subject", "kind", "role", "binding", "where"].map((name) => html`<th scope="col" key=${name}>${t(`who.${name}`)}</th>`)}</tr></thead>
    <tbody>${grants.slice(0, SHOWN_MAX).map((grant, i) => html`<tr key=${i}>
      <th scope="row" class="long-name" translate=${false}>${visible(titleOf(grant.subject))}</th><td translate=${false}>${visible(grant.subject.kind)}</td>
      <td class="long-name">${link(grant.roleKind, grant.namespace, grant.role)}</td><td class="long-name">${link(grant.bindingKind, grant.namespace, grant.binding)}</td>
      <td>${grant.namespace ? html`<span translate=${false}>${grant.namespace}</span>` : t("who.cluster")}</td></tr>`)}</tbody>
  </table></div>
  ${grants.length > SHOWN_MAX && html`<p class="soft">${t("server.more", { count: grants.length - SHOWN_MAX })}</p>`}`;
}
