/** Menu of actions on an object. Those that the user may not do are shown, with the verb that is missing. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { pauseActions } from "../controllers/pausing.js";
import { isPausable } from "../controllers/reconciles.js";
import { isSecret } from "../details/secret.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Lazy } from "../frame/lazy.js";
import { useOutside } from "../frame/outside.js";
import { ActionButton } from "../rights/action_button.js";
import { go } from "../routes/location.js";
import { compareAddress, createAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";
import { actionsOf } from "./actions.js";

const loadDialog = () => import("../frame/lazy_parts.js").then((module) => module.ActionDialog);
const loadDelete = () => import("../frame/lazy_parts.js").then((module) => module.DeleteDialog);

/** @param {{ kind: import("../discovery/kinds.js").Kind, object: any }} props */
export function ActionsMenu({ kind, object }) {
  const open = useSignal(false);
  const { name, namespace = "" } = object.metadata;
  const current = useSignal(/** @type {import("./actions.js").ObjectAction | "delete" | null} */ (null));
  const said = useSignal("");
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  useOutside(root, open);
  const start = (/** @type {import("./actions.js").ObjectAction | "delete"} */ action) => {
    open.value = false;
    current.value = action;
  };
  const props = {
    object, kind,
    onClose: () => (current.value = null),
    onDone: (/** @type {string} */ text) => {
      current.value = null;
      said.value = text;
    },
  };
  return html`<div class="picker" ref=${root}>
    <button type="button" class="button quiet" aria-haspopup="dialog" aria-expanded=${open.value} onClick=${() => (open.value = !open.value)}>
      <span>${t("action.menu")}</span><${Icon} name="down" /></button>
    <span class="visually-hidden" role="status">${said.value}</span>
    ${open.value && html`<div class="popover actions" role="dialog" aria-label=${t("action.menu")}><ul role="list">
      ${[...actionsOf(kind, object), ...(isPausable(kind, object) ? pauseActions(kind, object) : [])].map((action) => html`<li key=${action.id}><${ActionButton} action=${action.right} icon=${action.icon} precise class="command-line" onPress=${() => start(action)}>${t(`action.${action.id}`)}<//></li>`)}
      ${kind.verbs.includes("create") && !isSecret(object) && html`<li><${ActionButton} precise class="command-line" icon="copy" onPress=${() => go(createAddress(kind, { from: [namespace, name].filter(Boolean).join("/") }))}
        action=${{ kind, namespace, name: "", verb: "create" }}>${t("create.copy")}<//></li>`}
      <li><${ActionButton} precise class="command-line" icon="columns" onPress=${() => go(compareAddress(kind, namespace, name))} action=${{ kind, namespace, name, verb: "get" }}>${t("compare.menu")}<//></li>
      ${kind.verbs.includes("delete") && html`<li class="last"><${ActionButton} precise class="command-line danger-text" icon="trash" onPress=${() => start("delete")}
        action=${{ kind, namespace, name, verb: "delete" }}>${t("delete.title")}<//></li>`}
    </ul></div>`}
    ${current.value === "delete" ? html`<${Lazy} load=${loadDelete} props=${props} />` : current.value && html`<${Lazy} load=${loadDialog} props=${{ ...props, action: current.value }} />`}
  </div>`;
}
