/** Metadata of an object: labels that select, owners as links, the rest as it is. */
import { useSignal } from "@preact/signals";
import { html } from "../frame/html.js";
import { listAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { visible } from "../transport/errors.js";
import { Ports, portsOf } from "./ports.js";
import { ReferenceLink } from "./reference_link.js";
import { LAST_APPLIED, isSecret } from "./secret.js";

const CUT = 160;

/** @param {{ object: any, namespace: string, deleted: boolean }} props */
export function Metadata({ object, namespace, deleted }) {
  const { metadata } = object;
  const kind = session.discovery.ofObject(object.apiVersion ?? "", object.kind);
  const labels = Object.entries(metadata.labels ?? {});
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([name]) => !(isSecret(object) && name === LAST_APPLIED));
  const owners = metadata.ownerReferences ?? [];
  const ports = deleted ? [] : portsOf(object);
  return html`<dl class="facts">
    ${namespace && html`<${Fact} name=${t("detail.namespace")}><${ReferenceLink} reference=${{ apiVersion: "v1", kind: "Namespace", name: namespace, namespace: "" }} /><//>`}
    <${Fact} name=${t("detail.created")}><${Age} at=${metadata.creationTimestamp} /><//>
    ${metadata.deletionTimestamp && !deleted && html`<${Fact} name=${t("detail.deleting")}><${Age} at=${metadata.deletionTimestamp} /><//>`}
    ${owners.length > 0 && html`<${Fact} name=${t("detail.owners")}>${owners.map((/** @type {any} */ owner) => html`<${ReferenceLink} key=${owner.uid} showKind
      reference=${{ ...owner, namespace }} />`)}<//>`}
    <${Fact} name=${t("detail.labels")}>${labels.length === 0 ? html`<span class="none">${t("detail.none")}</span>` : html`<ul class="labels" role="list">${labels.map(([name, value]) => html`<li key=${name}>
      ${kind ? html`<a class="label" translate=${false} href=${listAddress(kind, { q: labelTerm(name, String(value)), ns: namespace })}><span>${name}</span><b>${value}</b></a>` : html`<span class="label" translate=${false}><span>${name}</span><b>${value}</b></span>`}</li>`)}</ul>`}<//>
    ${annotations.length > 0 && html`<${Fact} name=${t("detail.annotations")}><ul class="annotations" role="list">${annotations.map(([name, value]) => html`<${Annotation} key=${name} name=${name} value=${String(value)} />`)}</ul><//>`}
    ${metadata.finalizers?.length > 0 && html`<${Fact} name=${t("detail.finalizers")}><span translate=${false}>${metadata.finalizers.join(", ")}</span><//>`}
    ${ports.length > 0 && html`<${Fact} name=${t("detail.ports")}><${Ports} object=${object} ports=${ports} /><//>`}
    ${metadata.generation !== undefined && html`<${Fact} name=${t("detail.generation")}><span translate=${false}>${metadata.generation}</span><//>`}
    <${Fact} name=${t("detail.uid")}><code translate=${false}>${metadata.uid}</code><//>
  </dl>`;
}

/** @param {{ name: string, children?: any }} props */
function Fact({ name, children }) {
  return html`<div class="fact"><dt>${name}</dt><dd>${children}</dd></div>`;
}

/** @param {{ name: string, value: string }} props */
function Annotation({ name, value }) {
  const open = useSignal(false);
  const long = value.length > CUT;
  return html`<li><span class="annotation-name" translate=${false}>${name}</span>
    <span class="annotation-value" translate=${false}>${long && !open.value ? `${visible(value.slice(0, CUT))}…` : visible(value)}</span>
    ${long && html`<button type="button" class="more" aria-expanded=${open.value} onClick=${() => (open.value = !open.value)}>${t("detail.show_all")}</button>`}
  </li>`;
}

/**
 * Return the filter that selects a label.
 * @param {string} name
 * @param {string} value
 */
function labelTerm(name, value) {
  return value === "" ? `label:${name}` : `${name}=${value}`;
}
