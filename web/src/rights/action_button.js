/** Button of an action. Without the right it is shown, disabled, with the verb that is missing. */
import { useId } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { useActionRight } from "./action_right.js";

/**
 * @param {{ action: import("./action_right.js").Action, icon: string, onPress: () => void, precise?: boolean, class?: string,
 *   children?: any }} props
 * `children`: the text of the button. A refused button stays in the order of the keyboard, so that all users find the reason.
 */
export function ActionButton({ action, icon, onPress, precise = false, class: extra = "button", children }) {
  const { missing } = useActionRight(action, { precise });
  const id = useId();
  return html`<button type="button" class=${`${extra} action-button`} aria-disabled=${missing ? "true" : null} aria-describedby=${missing ? id : null}
    title=${missing || null} onClick=${() => missing || onPress()}>
    <${Icon} name=${missing ? "lock" : icon} /><span>${children}</span>
    ${missing && html`<span class="needs" id=${id}>${missing}</span>`}
  </button>`;
}
