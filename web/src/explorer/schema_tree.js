/** Fields of a kind as a tree that folds. Only what is open is drawn, so a schema of thousands of lines stays quick. */
import { useComputed, useSignal } from "@preact/signals";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { query, setQuery } from "../routes/location.js";
import { childSchema, descriptionOf, typeOf } from "../schema/schema.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { defaultOf, fieldsOf, limitsOf, rulesOf, search, valuesOf } from "./constraints.js";

const FOUND_MAX = 50;
const DEPTH_MAX = 30;
const SEARCHED_MIN = 2;

/** @typedef {import("../schema/schema.js").Schema} Schema */

/** @param {{ schema: Schema }} props */
export function SchemaTree({ schema }) {
  const text = useSignal("");
  const found = useComputed(() => (text.value.length >= SEARCHED_MIN ? search(schema, text.value.toLowerCase(), childSchema, FOUND_MAX) : null));
  const shown = (query.value.get("field") ?? "").split(".").filter(Boolean);
  const choose = (/** @type {string[]} */ path) => {
    text.value = "";
    setQuery({ field: path.join(".") });
  };
  return html`<div class="side-search schema-search"><${Icon} name="search" /><input type="search" aria-label=${t("kind.search")} placeholder=${t("kind.search")} autocomplete="off"
      value=${text.value} onInput=${(/** @type {any} */ event) => (text.value = event.target.value.trim())} /></div>
    ${found.value && html`<p class="soft" role="status">${t("kind.found", { count: found.value.length })}</p>
      <ul class="schema-found" role="list">${found.value.map((path) => html`<li key=${path.join(".")}><button type="button" class="button quiet" translate=${false} onClick=${() => choose(path)}>${path.join(".")}</button></li>`)}</ul>`}
    <div class="tree schema-tree" key=${shown.join(".")}><${Fields} schema=${schema} path=${[]} shown=${shown} /></div>`;
}

/** @param {{ schema: Schema, path: string[], shown: string[] }} props */
function Fields({ schema, path, shown }) {
  const inner = fieldsOf(schema, childSchema);
  const required = new Set(/** @type {string[]} */ (inner.node.required ?? []));
  const names = Object.keys(inner.node.properties ?? {});
  return html`<ul role="list">${names.map((name) => {
    const child = childSchema(inner, name);
    return child && html`<${Field} key=${name} name=${name} schema=${child} path=${[...path, name]} required=${required.has(name)} shown=${shown[0] === name ? shown.slice(1) : null} />`;
  })}</ul>`;
}

/** @param {{ name: string, schema: Schema, path: string[], required: boolean, shown: string[] | null }} props `shown` is the rest of the path of the chosen field */
function Field({ name, schema, path, required, shown }) {
  const branch = path.length < DEPTH_MAX && Object.keys(fieldsOf(schema, childSchema).node.properties ?? {}).length > 0;
  const open = useSignal(shown !== null && shown.length > 0);
  const described = useSignal(shown !== null && shown.length === 0);
  const value = defaultOf(schema);
  const id = `field-${path.join(".")}`;
  return html`<li>
    <div class=${shown?.length === 0 ? "field-line chosen" : "field-line"} ref=${(/** @type {HTMLElement | null} */ line) => shown?.length === 0 && line?.scrollIntoView({ block: "center" })}>
      ${branch ? html`<button type="button" class="fold" aria-expanded=${open.value} aria-label=${t("detail.expand", { name })} onClick=${() => (open.value = !open.value)}><${Icon} name=${open.value ? "down" : "right"} /></button>` : html`<span class="fold" />`}
      <button type="button" class="described" aria-expanded=${described.value} aria-controls=${id} onClick=${() => (described.value = !described.value)}><span class="field-name" translate=${false}>${visible(name)}</span></button>
      <span class="soft" translate=${false}>${visible(typeOf(schema))}</span>
      ${required && html`<span class="pill">${t("schema.required")}</span>`}
      ${value !== null && html`<span class="soft">${t("schema.default")} <span class="value" translate=${false}>${visible(value)}</span></span>`}
    </div>
    ${described.value && html`<${Description} id=${id} schema=${schema} />`}
    ${branch && open.value && html`<${Fields} schema=${schema} path=${path} shown=${shown ?? []} />`}
  </li>`;
}

/** @param {{ id: string, schema: Schema }} props */
function Description({ id, schema }) {
  const values = valuesOf(schema);
  const limits = limitsOf(schema);
  const rules = rulesOf(schema);
  const description = descriptionOf(schema);
  // `kubectl explain` shows the type, too: that of an item, for a list.
  const ofType = descriptionOf({ ...fieldsOf(schema, childSchema), own: "" });
  return html`<div class="description schema-description" id=${id}>
    <p translate=${false}>${description ? visible(description) : "–"}</p>
    ${ofType !== description && html`<p translate=${false}>${visible(ofType)}</p>`}
    ${values && html`<p>${t("kind.values")} ${values.map((value) => html`<code key=${value} translate=${false}>${visible(value)}</code> `)}</p>`}
    ${limits.length > 0 && html`<p>${limits.map((limit) => html`<code key=${limit} translate=${false}>${visible(limit)}</code> `)}</p>`}
    ${rules.length > 0 && html`<ul role="list" class="schema-rules">${rules.map(({ rule, message }, i) => html`<li key=${i}><code translate=${false}>${visible(rule)}</code>${message && html`<span class="soft" translate=${false}> ${visible(message)}</span>`}</li>`)}</ul>`}
  </div>`;
}
