/** Line above the reconciles of an object: buttons to pause, resume and request them, and the state of a pause. */
import { useSignal } from "@preact/signals";
import { ActionDialog } from "../actions/action_dialog.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { ActionButton } from "../rights/action_button.js";
import { t } from "../texts/catalogue.js";
import { humanDuration } from "../time/age.js";
import { now } from "../time/clock.js";
import { visible } from "../transport/errors.js";
import { pauseActions, pauseOf } from "./pausing.js";

/**
 * @param {{ kind: import("../discovery/kinds.js").Kind, object: any, reconciled: any[] }} props
 * `reconciled`: what the controllers that can be paused report of the object.
 */
export function PauseLine({ kind, object, reconciled }) {
  const action = useSignal(/** @type {import("../actions/actions.js").ObjectAction | null} */ (null));
  const close = () => (action.value = null);
  return html`<div class="pause-line">
    <p role="status">${pauseOf(object) && html`<${Icon} name="pause" /> ${stateOf(object, reconciled)}`}</p>
    ${pauseActions(kind, object).map((each) => html`<${ActionButton} key=${each.id} action=${each.right} icon=${each.icon} precise class="button quiet" onPress=${() => (action.value = each)}>${t(`action.${each.id}`)}<//>`)}
    ${action.value && html`<${ActionDialog} action=${action.value} object=${object} onClose=${close} onDone=${close} />`}
  </div>`;
}

/** @param {any} object @param {any[]} reconciled */
function stateOf(object, reconciled) {
  const { by, at } = /** @type {{ by: string, at: number }} */ (pauseOf(object));
  const since = Number.isNaN(at) ? "" : humanDuration(Math.max(0, now.value - at) / 1000);
  const text = by && since ? t("reconciles.paused_by", { user: visible(by), time: since }) : t("reconciles.paused");
  const waits = reconciled.some((each) => each.runningSince) ? t("reconciles.draining")
    : reconciled.every((each) => each.paused) ? t("reconciles.drained") : t("reconciles.pausing");
  return `${text}. ${waits}`;
}
