/** Fields of an object as a tree that folds, with the descriptions of the schema. References are links. */
import { useSignal } from "@preact/signals";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { childSchema, descriptionOf } from "../schema/schema.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { Age } from "../time/age.js";
import { ReferenceLink } from "./reference_link.js";
import { referenceAt } from "./references.js";
import { SecretValue, isHidden } from "./secret.js";

const OPEN_DEPTH = 2;
const CHILDREN_MAX = 100;
const TEXT_MAX = 4000;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** @param {{ object: any, name: string, schema: import("../schema/schema.js").Schema | null }} props */
export function FieldTree({ object, name, schema }) {
  const value = object[name];
  const own = childSchema(schema, name);
  if (value === null || typeof value !== "object") return html`<p class="tree-alone"><${Leaf} object=${object} path=${[name]} value=${value} parent=${object} /></p>`;
  if (isEmpty(value)) return html`<p class="none">${t("detail.none")}</p>`;
  return html`<div class="tree"><${Children} object=${object} path=${[name]} value=${value} schema=${own} depth=${0} /></div>`;
}

/** @param {{ object: any, path: (string | number)[], value: any, schema: any, depth: number }} props */
function Children({ object, path, value, schema, depth }) {
  const all = useSignal(false);
  const entries = Array.isArray(value) ? value.map((each, i) => /** @type {[number, any]} */ ([i, each])) : Object.entries(value);
  const shown = all.value ? entries : entries.slice(0, CHILDREN_MAX);
  return html`<ul role="list">
    ${shown.map(([key, each]) => html`<${Field} key=${key} object=${object} path=${[...path, key]} value=${each} parent=${value} schema=${childSchema(schema, key)} depth=${depth} />`)}
    ${entries.length > shown.length && html`<li><button type="button" class="button quiet" onClick=${() => (all.value = true)}>${t("detail.more", { count: entries.length })}</button></li>`}
  </ul>`;
}

/** @param {any} props */
function Field({ object, path, value, parent, schema, depth }) {
  const name = path[path.length - 1];
  const branch = value !== null && typeof value === "object" && !isEmpty(value);
  const open = useSignal(depth < OPEN_DEPTH && !(Array.isArray(value) && value.length > 20));
  const described = useSignal(false);
  const description = typeof name === "string" ? descriptionOf(schema) : "";
  const title = typeof name === "number" ? titleOf(value, name) : name;
  const label = html`<span class="field-name" translate=${false}>${visible(title)}</span>`;
  return html`<li>
    <div class="field-line">
      ${branch ? html`<button type="button" class="fold" aria-expanded=${open.value} aria-label=${t("detail.expand", { name: title })} onClick=${() => (open.value = !open.value)}>
        <${Icon} name=${open.value ? "down" : "right"} /></button>` : html`<span class="fold" />`}
      ${description ? html`<button type="button" class="described" aria-expanded=${described.value} aria-label=${t("detail.describe", { name: title })}
        onClick=${() => (described.value = !described.value)}>${label}</button>` : label}
      ${branch ? !open.value && html`<span class="soft">${t(Array.isArray(value) ? "detail.items" : "detail.fields", { count: Object.keys(value).length })}</span>`
        : html`<span class="field-value"><${Leaf} object=${object} path=${path} value=${value} parent=${parent} /></span>`}
    </div>
    ${described.value && html`<p class="description" translate=${false}>${visible(description)}</p>`}
    ${branch && open.value && html`<${Children} object=${object} path=${path} value=${value} schema=${schema} depth=${depth + 1} />`}
  </li>`;
}

/** @param {{ object: any, path: (string | number)[], value: any, parent: any }} props */
function Leaf({ object, path, value, parent }) {
  if (isHidden(object, path)) return html`<${SecretValue} name=${String(path[1])} value=${String(value)} />`;
  if (value === null || isEmpty(value)) return html`<span class="none">${t("detail.none")}</span>`;
  const reference = referenceAt(path, value, parent, object.metadata.namespace ?? "");
  if (reference) return html`<${ReferenceLink} reference=${reference} />`;
  const text = visible(value);
  if (INSTANT.test(text)) return html`<span class="value" translate=${false}>${text}</span> <span class="soft">(<${Age} at=${text} />)</span>`;
  return html`<span class=${`value ${typeof value}`} translate=${false}>${text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text}</span>`;
}

/** @param {any} value */
function isEmpty(value) {
  return value !== null && typeof value === "object" && Object.keys(value).length === 0;
}

/**
 * Return the title of an item of a list: its name, if it has one.
 * @param {any} value
 * @param {number} index
 */
function titleOf(value, index) {
  const named = value && typeof value === "object" ? (value.name ?? value.type ?? value.key) : undefined;
  return typeof named === "string" ? named : String(index);
}
