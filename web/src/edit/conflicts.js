/** Conflicts of a server-side apply: fields that other managers own. The user takes over or leaves each of them. */
import { isSecret } from "../details/secret.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { follow, parsePath, valueAt } from "./field_paths.js";

/**
 * @param {{ conflicts: import("./saving.js").Conflict[], choices: Record<string, "take" | "leave">, stored: any, yours: any,
 *   onChoose: (field: string, choice: "take" | "leave") => void, onTakeAll: () => void }} props
 */
export function Conflicts({ conflicts, choices, stored, yours, onChoose, onTakeAll }) {
  return html`<section class="conflicts" aria-labelledby="conflicts-title">
    <h3 id="conflicts-title"><${Icon} name="warn" />${t("conflict.title", { count: conflicts.length })}
      ${conflicts.length > 1 && html`<button type="button" class="button quiet" onClick=${onTakeAll}>${t("conflict.take_all")}</button>`}</h3>
    <ul role="list">${conflicts.map(({ field, manager }) => html`<li key=${field}><fieldset>
      <legend><code translate=${false}>${visible(field.replace(/^\./, ""))}</code> <span>${t("conflict.owner", { manager: visible(manager) })}</span></legend>
      ${/** @type {const} */ (["take", "leave"]).map((choice) => html`<label class="choice" key=${choice}><input type="radio" name=${`conflict ${field}`} checked=${choices[field] === choice} onChange=${() => onChoose(field, choice)} />
        <span>${t(`conflict.${choice}`)} <code class="soft" translate=${false}>${short(choice === "take" ? yours : stored, field)}</code></span></label>`)}
    </fieldset></li>`)}</ul>
  </section>`;
}

/** @param {any} object @param {string} field */
function short(object, field) {
  if (isSecret(object)) return "";
  const { path, whole } = follow(object, parsePath(field));
  const text = whole ? visible(JSON.stringify(valueAt(object, path))) : "";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
