/** View as another user: the form of it, and the bar on each page meanwhile. */
import { useSignal } from "@preact/signals";
import { ActionButton } from "../rights/action_button.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { html } from "./html.js";
import { Icon } from "./icons.js";
import { reportError } from "./notices.js";

const USERS = { group: "", version: "v1", plural: "users" };
/** Names that a header can carry. */
const NAME = "[!-~]+";

/** @param {{ onDone: () => void }} props */
export function ViewAs({ onDone }) {
  const open = useSignal(false);
  if (session.viewedAs.value || !session.has("impersonation")) return null;
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    session.viewAs({ user: String(form.get("user")), group: String(form.get("group") ?? "") }).then(onDone, reportError);
  };
  if (!open.value) {
    return html`<${ActionButton} precise icon="eye" class="button wide-button" onPress=${() => (open.value = true)}
      action=${{ kind: USERS, namespace: "", name: "", verb: "impersonate" }}>${t("view_as.open")}<//>`;
  }
  return html`<form class="view-as" onSubmit=${submit}>
    <label class="action-field"><span>${t("view_as.user")}</span><input name="user" type="text" required pattern=${NAME} autofocus autocomplete="off" spellcheck=${false} /></label>
    <label class="action-field"><span>${t("view_as.group")}</span><input name="group" type="text" pattern=${NAME} autocomplete="off" spellcheck=${false} /></label>
    <button type="submit" class="button primary wide-button">${t("view_as.begin")}</button></form>`;
}

export function ViewedAs() {
  const viewed = session.viewedAs.value;
  if (!viewed) return null;
  return html`<section class="past" aria-label=${t("view_as.open")}>
    <div class="past-text" role="status"><${Icon} name="eye" /><p>${t("view_as.bar")} <strong translate=${false}>${viewed.user}${viewed.group ? ` · ${viewed.group}` : ""}</strong> <span class="past-note">${t("view_as.note")}</span></p></div>
    <div class="past-steps"><button type="button" class="button small-button primary" onClick=${() => session.viewAs(null).catch(reportError)}>${t("view_as.end")}</button></div>
  </section>`;
}
