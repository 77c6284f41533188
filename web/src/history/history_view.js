/** History of an object: every kept revision, who made it, and the difference of any two. */
import { useComputed } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { hasReconciles } from "../controllers/reconciles.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Empty, Loading } from "../frame/states.js";
import { momentText } from "../past/moment.js";
import { Forbidden, Refused } from "../rights/refused.js";
import { query, setQuery } from "../routes/location.js";
import { objectAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";
import { isStatusOnly } from "./changed_fields.js";
import { ComparisonPane } from "./comparison_pane.js";
import { NoHistory } from "./records.js";
import { RetentionOption } from "./retention.js";
import { RevisionList } from "./revision_list.js";
import { Revisions } from "./revisions.js";
import { RollBackButton, canUndo } from "./roll_back_button.js";
import { TugLine } from "./tug_line.js";
import { tugsOf } from "./tug_of_war.js";

/** @param {import("../details/tabs.js").TabProps} props */
export function HistoryView({ kind, object, deleted }) {
  const { namespace = "", name, resourceVersion } = object.metadata;
  const revisions = useMemo(() => new Revisions(kind, namespace, name), []);
  useEffect(() => {
    revisions.older();
    return () => revisions.close();
  }, []);
  useEffect(() => {
    revisions.newer();
  }, [resourceVersion]);
  const tugs = useComputed(() => tugsOf(revisions.all.value));
  const failed = revisions.failed.value;
  if (failed && revisions.all.value.length === 0) {
    if (failed instanceof NoHistory) return html`<${Empty} icon="history" title=${t("history.none")} hint=${t("history.none_hint")} />`;
    if (failed.code === 403) return html`<${Forbidden} error=${failed} kind=${kind} namespace=${namespace} />`;
    return html`<${Refused} error=${failed} />`;
  }
  if (!revisions.loaded.value) return html`<${Loading} />`;
  return html`<${Shown} kind=${kind} object=${object} deleted=${deleted} revisions=${revisions} tugs=${tugs.value} />`;
}

/** @param {{ kind: import("../discovery/kinds.js").Kind, object: any, deleted: boolean, revisions: Revisions, tugs: import("./tug_of_war.js").Tug[] }} props */
function Shown({ kind, object, deleted, revisions, tugs }) {
  const all = revisions.all.value;
  const status = query.value.get("status") !== "0";
  const shown = status ? all : all.filter((each) => each.type !== "MODIFIED" || !each.known || !isStatusOnly(each.fields));
  const asked = query.value.get("rev") ?? "";
  const chosen = all.find((each) => each.revision === asked) ?? (asked ? undefined : (shown[0] ?? all[0]));
  const other = all.find((each) => each.revision === query.value.get("with") && each !== chosen);
  // A copied address may name a revision of an older page.
  useEffect(() => {
    if (asked && !chosen) revisions.older();
  }, [asked, all.length]);
  const choose = (/** @type {import("./revisions.js").Revision} */ each) => setQuery({ rev: each.revision });
  const compare = (/** @type {import("./revisions.js").Revision} */ each) => setQuery({ rev: chosen?.revision ?? "", with: each === chosen ? "" : each.revision });
  const writable = !deleted && !momentText.value && chosen?.type !== "DELETED";
  const done = () => setQuery({ rev: "", with: "" });
  return html`<div class=${`history${asked ? " one" : ""}`}>
    <div class="history-side">
      <div class="history-bar"><span class="count">${t("history.count", { count: shown.length })}</span><div class="spacer" />
        <button type="button" class="toggle small-button" aria-pressed=${!status} onClick=${() => setQuery({ status: status ? "0" : "" })}>${t("history.no_status")}</button></div>
      <${TugLine} tugs=${tugs} />
      <${RevisionList} revisions=${shown} chosen=${chosen} against=${other?.revision ?? ""} tugs=${new Set(tugs.map(({ path }) => path))}
        onChoose=${choose} onCompare=${compare} onEnd=${() => revisions.older()}><${End} revisions=${revisions} /><//>
    </div>
    ${chosen ? html`<${ComparisonPane} revisions=${all} chosen=${chosen} other=${other} status=${status} onBack=${() => setQuery({ rev: "", with: "" })}>
        ${!momentText.value && chosen.type !== "DELETED" && html`<a class="button quiet" href=${objectAddress(kind, object.metadata.namespace ?? "", object.metadata.name, { at: chosen.revision })}><${Icon} name="history" />${t("history.page")}</a>`}
        ${writable && hasReconciles(kind, object) && html`<a class="button quiet" href=${objectAddress(kind, object.metadata.namespace ?? "", object.metadata.name, { tab: "reconciles", rev: chosen.revision })}><${Icon} name="restart" />${t("history.reconcile")}</a>`}
        ${writable && canUndo(chosen) && html`<${RollBackButton} key=${`undo ${chosen.revision}`} kind=${kind} object=${object} revision=${chosen} undo onDone=${done} />`}
        ${writable && chosen.revision !== object.metadata.resourceVersion && html`<${RollBackButton} key=${chosen.revision} kind=${kind} object=${object} revision=${chosen} onDone=${done} />`}<//>`
      : revisions.end.value ? html`<${Empty} icon="history" title=${t("history.gone", { revision: asked })} hint=${t("history.gone_hint")} />` : html`<${Loading} />`}
  </div>`;
}

/** @param {{ revisions: Revisions }} props */
function End({ revisions }) {
  const end = revisions.end.value;
  if (revisions.failed.value) return html`<div class="history-end"><button type="button" class="button" onClick=${() => revisions.older()}>${t("history.again")}</button></div>`;
  if (revisions.loading.value && !end) return html`<p class="history-end" role="status">${t("app.loading")}</p>`;
  if (!end) return html`<div class="history-end"><button type="button" class="button" onClick=${() => revisions.older()}>${t("history.older")}</button></div>`;
  return html`<p class="history-end"><${Icon} name=${end === "Created" ? "check" : "history"} /><span>${t(`history.end.${end}`)}${end === "Expired" && html` <${RetentionOption} />`}</span></p>`;
}
