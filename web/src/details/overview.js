/** Overview of an object: problems, conditions, what it owns, metadata, and its fields as a tree. */
import { Stuck } from "../actions/stuck.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { objectAddress } from "../routes/routes.js";
import { t } from "../texts/catalogue.js";
import { Age, humanDuration } from "../time/age.js";
import { now } from "../time/clock.js";
import { visible } from "../transport/errors.js";
import { conditionLevel, conditionsOf, problemsOf } from "./object_health.js";
import { Metadata } from "./metadata.js";
import { OwnedTable } from "./owned_table.js";
import { FieldTree } from "./field_tree.js";
import { ownedProblems } from "./owned_problems.js";
import { OwnedProblemLine, ProblemLine } from "./problem_line.js";
import { lastChange } from "../table/last_change.js";
import { useSchema } from "../schema/use_schema.js";

const METADATA = new Set(["apiVersion", "kind", "metadata"]);

/** @param {import("./tabs.js").TabProps} props */
export function Overview({ kind, object, related, deleted }) {
  const schema = useSchema(kind);
  const problems = problemsOf(object).filter(({ key }) => !deleted || !key.startsWith("problem.terminating"));
  const owned = ownedProblems(related.owned.value, related.shownEvents.value);
  const changed = lastChange(object.metadata.managedFields);
  const conditions = conditionsOf(object);
  const fields = Object.keys(object).filter((name) => !METADATA.has(name));
  const logs = kind.plural === "pods" && !deleted ? objectAddress(kind, object.metadata.namespace, object.metadata.name, { tab: "logs" }) : "";
  const count = problems.length + owned.length;
  return html`<div class="overview">
    ${count > 0 && html`<section class="problems" aria-labelledby="problems-title">
      <h2 id="problems-title"><${Icon} name="bad" />${t("detail.problems", { count })}</h2>
      <ul role="list">
        ${owned.map((group) => html`<li key=${group.owned[0].row.uid}><${OwnedProblemLine} group=${group} /></li>`)}
        ${problems.map((problem, i) => html`<li key=${i}><${ProblemLine} problem=${problem} logs=${logs} /></li>`)}
      </ul>
      <p class="problem-change"><a href=${objectAddress(kind, object.metadata.namespace ?? "", object.metadata.name, { tab: "incident" })}>${t("incident.link")}</a></p>
      ${changed && html`<p class="problem-change soft">${t("detail.last_change", { manager: changed.manager, time: humanDuration((now.value - Date.parse(changed.at)) / 1000) })}</p>`}
    </section>`}
    ${!deleted && html`<${Stuck} kind=${kind} object=${object} />`}
    ${conditions.length > 0 && html`<section><h2>${t("detail.conditions")}</h2><${Conditions} conditions=${conditions} generation=${object.metadata.generation} /></section>`}
    <${OwnedTable} related=${related} />
    <section><h2>${t("detail.metadata")}</h2><${Metadata} object=${object} deleted=${deleted} namespace=${object.metadata.namespace ?? ""} /></section>
    ${fields.map((name) => html`<section key=${name}><h2 class="field-title" translate=${false}>${name}</h2>
      <${FieldTree} object=${object} name=${name} schema=${schema} /></section>`)}
  </div>`;
}

/** @param {{ conditions: any[], generation: number | undefined }} props */
function Conditions({ conditions, generation }) {
  return html`<div class="table-frame" role="region" tabindex="0" aria-label=${t("detail.conditions")}><table class="plain">
    <thead><tr><th scope="col">${t("detail.condition")}</th><th scope="col">${t("detail.status")}</th><th scope="col">${t("detail.reason")}</th>
      <th scope="col">${t("detail.message")}</th><th scope="col">${t("detail.since")}</th></tr></thead>
    <tbody>${conditions.map((condition) => {
      const level = conditionLevel(condition);
      const old = condition.observedGeneration !== undefined && generation !== undefined && condition.observedGeneration < generation;
      return html`<tr key=${condition.type}><th scope="row" translate=${false}>${condition.type}</th>
        <td><span class=${`health ${level}`}><${Icon} name=${level} /><span class="visually-hidden">${t(`health.${level}`)}</span><span translate=${false}>${condition.status}</span></span></td>
        <td translate=${false}>${visible(condition.reason)}</td>
        <td class="message" translate=${false}>${visible(condition.message)}${old && html` <span class="soft">(${t("detail.observed")} ${condition.observedGeneration})</span>`}</td>
        <td><${Age} at=${condition.lastTransitionTime ?? condition.lastUpdateTime} /></td></tr>`;
    })}</tbody></table></div>`;
}
