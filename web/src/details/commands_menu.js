/** Commands of kubectl for an object. Those that the user may not run are shown, with the verb that is missing. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { copyText } from "../frame/copy.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { useOutside } from "../frame/outside.js";
import { objectCommands } from "../kubectl/commands.js";
import { useActionRight } from "../rights/action_right.js";
import { t } from "../texts/catalogue.js";

/** @param {{ kind: import("../discovery/kinds.js").Kind, namespace: string, name: string }} props */
export function CommandsMenu({ kind, namespace, name }) {
  const open = useSignal(false);
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  useOutside(root, open);
  return html`<div class="picker" ref=${root}>
    <button type="button" class="button quiet" aria-label=${t("detail.commands")} aria-haspopup="dialog" aria-expanded=${open.value} onClick=${() => (open.value = !open.value)}>
      <${Icon} name="terminal" /><span class="commands-label">${t("detail.commands")}</span><${Icon} name="down" /></button>
    ${open.value && html`<${Panel} kind=${kind} namespace=${namespace} name=${name} />`}
  </div>`;
}

/** @param {{ kind: import("../discovery/kinds.js").Kind, namespace: string, name: string }} props */
function Panel({ kind, namespace, name }) {
  return html`<div class="popover commands" role="dialog" aria-label=${t("detail.commands")}><ul role="list">
    ${objectCommands(kind, namespace, name).map((command) => html`<${CommandLine} key=${command.name} command=${command} kind=${kind} namespace=${namespace} name=${name} />`)}
  </ul></div>`;
}

/** @param {{ command: import("../kubectl/commands.js").Command, kind: import("../discovery/kinds.js").Kind, namespace: string, name: string }} props */
function CommandLine({ command, kind, namespace, name }) {
  const { missing } = useActionRight({ kind, namespace, name, verb: command.verb, subresource: command.subresource }, { precise: true });
  const done = useSignal(false);
  const copy = async () => {
    if (missing) return;
    done.value = await copyText(command.text);
    setTimeout(() => (done.value = false), 1500);
  };
  return html`<li><button type="button" class="command-line" aria-disabled=${missing !== ""} onClick=${copy}>
    <${Icon} name=${done.value ? "check" : missing ? "lock" : "copy"} />
    <code translate=${false}>${command.text}</code>
    ${missing && html`<span class="needs">${missing}</span>`}
    <span class="visually-hidden" role="status">${done.value ? t("copy.done") : ""}</span>
  </button></li>`;
}
