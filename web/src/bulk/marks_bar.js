/** Bar of the marked rows: how many there are, and the actions on all of them. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Lazy } from "../frame/lazy.js";
import { ActionButton } from "../rights/action_button.js";
import { t } from "../texts/catalogue.js";
import { bulkActions, titleOf } from "./bulk.js";

const loadDialog = () => import("../frame/lazy_parts.js").then((module) => module.BulkDialog);

/** @param {{ kind: import("../discovery/kinds.js").Kind, marks: import("./marks.js").Marks, view: import("../lists/view.js").ListView }} props */
export function MarksBar({ kind, marks, view }) {
  const current = useSignal(/** @type {{ id: string, danger: boolean } | null} */ (null));
  useEffect(() => {
    if (!current.peek()) marks.keep(view.store.rows);
  }, [view.rows.value]);
  const [first] = marks.rows.value.values();
  const shown = view.rows.value;
  const all = shown.length > 0 && shown.every((row) => marks.rows.value.has(row.uid));
  return html`<div class="marks-bar" role="group" aria-label=${t("bulk.label")}>
    <label class="check"><input type="checkbox" checked=${all} onChange=${() => marks.set(shown, !all)} /><span>${t("bulk.all")}</span></label>
    <span class="count" role="status">${t("bulk.marked", { count: marks.count.value })}</span>
    ${first && bulkActions(kind, first).map((each) => html`<${ActionButton} key=${each.id} action=${each.right} icon=${each.icon} class=${`button quiet${each.danger ? " danger-text" : ""}`} onPress=${() => (current.value = each)}>${titleOf(each.id)}<//>`)}
    <button type="button" class="icon-button small" aria-label=${t("bulk.clear")} title=${t("bulk.clear")} onClick=${() => marks.clear()}><${Icon} name="close" /></button>
    ${current.value && html`<${Lazy} load=${loadDialog} props=${{ kind, action: current.value, marks, onClose: () => (current.value = null) }} />`}
  </div>`;
}
