/** Values of Secrets: hidden until the user shows one. */
import { useSignal } from "@preact/signals";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { t } from "../texts/catalogue.js";

/** Annotation in which kubectl keeps the whole object: of a Secret, its values too. */
export const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
export const MASK = "••••••••";

/** @param {any} object */
export function isSecret(object) {
  return object.kind === "Secret" && object.apiVersion === "v1";
}

/**
 * Return an object without the values of a Secret; other objects as they are.
 * @param {any} object
 */
export function masked(object) {
  if (!isSecret(object)) return object;
  const copy = structuredClone(object);
  for (const field of ["data", "stringData"]) {
    for (const name of Object.keys(copy[field] ?? {})) copy[field][name] = MASK;
  }
  if (copy.metadata.annotations?.[LAST_APPLIED]) copy.metadata.annotations[LAST_APPLIED] = MASK;
  return copy;
}

/**
 * Return whether a field holds a value of a Secret.
 * @param {any} object
 * @param {readonly (string | number)[]} path
 */
export function isHidden(object, path) {
  return isSecret(object) && path.length === 2 && (path[0] === "data" || path[0] === "stringData");
}

/** @param {{ name: string, value: string }} props */
export function SecretValue({ name, value }) {
  const shown = useSignal(false);
  const label = t(shown.value ? "secret.hide" : "secret.show", { name });
  return html`<span class="secret">
    ${shown.value ? html`<span class="secret-value"><${Decoded} value=${value} /></span>` : html`<span class="masked" aria-label=${t("secret.masked")} role="img">${MASK}</span>`}
    <button type="button" class="icon-button small" aria-label=${label} title=${label} aria-pressed=${shown.value} onClick=${() => (shown.value = !shown.value)}><${Icon} name="eye" /></button>
  </span>`;
}

/** @param {{ value: string }} props */
function Decoded({ value }) {
  let bytes;
  try {
    bytes = Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
  } catch {
    return html`<span translate=${false}>${value}</span>`;
  }
  try {
    return html`<span translate=${false}>${new TextDecoder("utf-8", { fatal: true }).decode(bytes)}</span>`;
  } catch {
    return html`<span class="soft">${t("secret.binary", { count: bytes.length })}</span>`;
  }
}
