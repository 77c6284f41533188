/** Dialog before saving: what is stored, what the user wrote, and what would be stored; conflicts with other managers. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Dialog } from "../frame/dialog.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { NoticeBody, noticeOf } from "../frame/notices.js";
import { Loading } from "../frame/states.js";
import { t } from "../texts/catalogue.js";
import { safeMessage } from "../transport/errors.js";
import { Comparison } from "./comparison_table.js";
import { compare } from "./comparison.js";
import { Conflicts } from "./conflicts.js";
import { send, preview } from "./saving.js";
import { planOf } from "./save_plan.js";
import { Waterfall } from "./waterfall.js";

/**
 * @typedef {Pick<import("./edit_session.js").EditSession, "target" | "base" | "stored"> & { read: () => { manifest: any } }} Edited
 * What is reviewed: an edit session, or another source of a manifest.
 * `takes`: manager whose fields are taken over unless the user decides otherwise.
 * @param {{ edit: Edited, schema: import("./changes.js").Schema, title?: string, action?: string, takes?: string, onClose: () => void, onMerge?: () => void, onSaved: (object: any) => void }} props
 */
export function Review({ edit, schema, title = t("review.title"), action = t("review.save"), takes = "", onClose, onMerge, onSaved }) {
  const { manifest } = useMemo(() => edit.read(), []);
  const way = useSignal("apply");
  /** Choices by field of a conflict. @type {import("@preact/signals").Signal<Record<string, "take" | "leave">>} */
  const choices = useSignal({});
  const conflicts = useSignal(/** @type {import("./saving.js").Conflict[]} */ ([]));
  const shown = useSignal(/** @type {import("./saving.js").Preview | null} */ (null));
  const failed = useSignal(/** @type {unknown} */ (null));
  const busy = useSignal(false);
  const stored = edit.stored.value;
  const open = useComputed(() => conflicts.value.filter(({ field }) => !choices.value[field]).length);
  const plan = () => planOf({ way: way.value, edit, schema, yours: manifest, conflicts: conflicts.value, choices: choices.value });
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal);
    return () => stop.abort();
  }, [way.value, choices.value, stored, schema]);
  async function load(/** @type {AbortSignal} */ signal) {
    busy.value = true;
    const loaded = way.peek();
    try {
      const found = await preview(plan().writes, signal);
      // The user may have chosen another way before the effect of that choice aborts this request.
      if (signal.aborted || loaded !== way.peek()) return;
      failed.value = null;
      if (found.conflicts.length) {
        conflicts.value = found.conflicts;
        const taken = found.conflicts.filter(({ field, manager }) => manager === takes && !choices.peek()[field]);
        for (const { field } of taken) chosen(field, "take");
      }
      shown.value = { ...found, object: found.object && plan().finished(found.object, found.earlier) };
    } catch (error) {
      if (!signal.aborted) failed.value = error;
    } finally {
      if (!signal.aborted) busy.value = false;
    }
  }
  const save = async () => {
    busy.value = true;
    try {
      onSaved(await send(plan().writes));
    } catch (error) {
      failed.value = error;
      busy.value = false;
    }
  };
  const chosen = (/** @type {string} */ field, /** @type {"take" | "leave"} */ choice) => (choices.value = { ...choices.value, [field]: choice });
  const takeAll = () => (choices.value = Object.fromEntries(conflicts.value.map(({ field }) => [field, /** @type {const} */ ("take")])));
  const switched = (/** @type {string} */ to) => {
    conflicts.value = [];
    choices.value = {};
    way.value = to;
  };
  const found = shown.value;
  const refused = failed.value ?? found?.refused;
  const empty = plan().writes.length === 0;
  return html`<${Dialog} label=${title} class="review-dialog" onClose=${onClose}>
    <div class="dialog-head"><h2>${title}</h2>
      <button type="button" class="icon-button" aria-label=${t("app.close")} onClick=${onClose}><${Icon} name="close" /></button></div>
    <div class="review-body">
      ${refused && html`<div class="notice static" role="alert"><${Icon} name="bad" /><${NoticeBody} notice=${noticeOf(refused)} />
        ${way.value === "replace" && onMerge && /** @type {any} */ (refused).code === 409 && html`<button type="button" class="button" onClick=${onMerge}>${t("review.merge")}</button>`}</div>`}
      ${(found?.warnings ?? []).map((text, i) => html`<p class="hint warn" key=${i}><${Icon} name="warn" /><span translate=${false}>${safeMessage(text)}</span></p>`)}
      ${conflicts.value.length > 0 && html`<${Conflicts} conflicts=${conflicts.value} choices=${choices.value} stored=${stored} yours=${manifest} onChoose=${chosen} onTakeAll=${takeAll} />`}
      ${found?.object ? html`<${Table} edit=${edit} yours=${manifest} preview=${found} left=${conflicts.value.filter(({ field }) => choices.value[field] === "leave")} />` : !refused && open.value === 0 && !empty && html`<${Loading} />`}
      ${empty && html`<p class="hint">${t("review.nothing")}</p>`}
    </div>
    <div class="dialog-foot">
      <label class="review-way"><span>${t("review.way")}</span><select class="select" value=${way.value} onChange=${(/** @type {any} */ event) => switched(event.target.value)}>
        ${["apply", "replace", "merge", "json"].map((each) => html`<option key=${each} value=${each}>${t(`review.way.${each}`)}</option>`)}</select></label>
      <div class="spacer" />
      ${open.value > 0 && html`<span class="hint warn"><${Icon} name="warn" />${t("review.choose", { count: open.value })}</span>`}
      <button type="button" class="button" onClick=${onClose}>${t("review.cancel")}</button>
      <button type="button" class="button primary" disabled=${busy.value || open.value > 0 || Boolean(refused) || empty || !found?.object} onClick=${save}>${action}</button>
    </div>
  <//>`;
}

/** @param {{ edit: Edited, yours: any, preview: import("./saving.js").Preview, left: import("./saving.js").Conflict[] }} props */
function Table({ edit, yours, preview: { object, steps }, left }) {
  const stored = edit.stored.value;
  const rows = useMemo(() => compare({ base: edit.base.peek(), stored, yours, result: object, steps, left }), [object, stored]);
  return html`<${Comparison} rows=${rows} traced=${steps !== null} />${steps && html`<${Waterfall} steps=${steps} />`}`;
}
