/** What changed before a problem: the likeliest changes first, then a time line of changes, events and conditions. */
import { useComputed } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { timeline } from "../details/timeline.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { Empty, Loading } from "../frame/states.js";
import { RollBackButton, canUndo } from "../history/roll_back_button.js";
import { momentText } from "../past/moment.js";
import { Forbidden, Refused } from "../rights/refused.js";
import { query, setQuery } from "../routes/location.js";
import { clockFormat, instantFormat, t } from "../texts/catalogue.js";
import { Age } from "../time/age.js";
import { now } from "../time/clock.js";
import { safeMessage } from "../transport/errors.js";
import { Change, SubjectLink } from "./change_line.js";
import { Investigation } from "./investigation.js";
import { breakOf, changesAround, suspectsOf } from "./suspects.js";

const MINUTES = [5, 15, 60, 1440];
const SUSPECTS_MAX = 3;
const ENTRIES_MAX = 300;

/** @param {import("../details/tabs.js").TabProps} props */
export function IncidentView({ kind, object, related, deleted }) {
  const investigation = useMemo(() => new Investigation(), []);
  const owned = useComputed(() => related.owned.value.map((each) => `${each.row.uid} ${Boolean(each.health.problem)}`).sort().join());
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => investigation.run(kind, object, related.owned.peek(), stop.signal), investigation.loaded.peek() ? 1000 : 0);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [object.metadata.resourceVersion, owned.value]);
  const failed = investigation.failed.value;
  if (investigation.unsupported) return html`<${Empty} icon="history" title=${t("history.none")} hint=${t("history.none_hint")} />`;
  if (failed?.code === 403) return html`<${Forbidden} error=${failed} kind=${kind} namespace=${object.metadata.namespace ?? ""} />`;
  if (failed && !investigation.chapters.value.length) return html`<${Refused} error=${failed} />`;
  if (!investigation.loaded.value) return html`<${Loading} />`;
  return html`<${Shown} kind=${kind} object=${object} related=${related} deleted=${deleted} investigation=${investigation} />`;
}

/** @param {import("../details/tabs.js").TabProps & { investigation: Investigation }} props */
function Shown({ kind, object, related, deleted, investigation }) {
  const chapters = investigation.chapters.value;
  const began = useMemo(() => breakOf(chapters), [chapters]);
  const minutes = Number(query.value.get("minutes")) || 15;
  const at = began?.at ?? now.value;
  // Without a problem the window ends now, so it need not follow each second.
  const changes = useMemo(() => changesAround(chapters, at, minutes * 60_000), [chapters, began?.at, minutes]);
  const suspects = began ? suspectsOf(changes) : [];
  const others = timeline(object, related.shownEvents.value).filter((each) => each.text !== "events.changed" && each.text !== "events.created");
  return html`<div class="incident">
    <div class="incident-head">
      ${began ? html`<p class="incident-break"><${Icon} name="bad" class="bad" /><span><strong>${t("incident.began", { time: instantFormat().format(began.at) })}</strong> <${SubjectLink} subject=${began.subject} />${" "}<span class="soft">${safeMessage(t(began.problem.key, { time: "", ...began.problem.values }))}</span></span></p>`
        : html`<p class="incident-break"><${Icon} name="good" class="good" /><span>${t("incident.healthy")}</span></p>`}
      <label class="incident-window"><span>${t("incident.window")}</span><select class="select" value=${String(minutes)} onChange=${(/** @type {any} */ event) => setQuery({ minutes: event.target.value === "15" ? "" : event.target.value })}>
        ${MINUTES.map((each) => html`<option key=${each} value=${String(each)}>${each < 60 ? t("incident.minutes", { count: each }) : t("incident.hours", { count: each / 60 })}</option>`)}</select></label>
    </div>
    ${began && html`<section class="suspects" aria-labelledby="suspects-title"><h2 id="suspects-title">${t("incident.suspects")}</h2>
      ${suspects.length === 0 ? html`<p class="soft">${t("incident.no_suspects")}</p>` : html`<ol role="list">${suspects.slice(0, SUSPECTS_MAX).map((each) => html`<li key=${each.revision.revision} class="suspect"><${Change} entry=${each} began=${began.at} />
          ${each.subject.role === "self" && !deleted && !momentText.value && canUndo(each.revision) && html`<div class="suspect-actions"><${RollBackButton} kind=${kind} object=${object} revision=${each.revision} undo /></div>`}</li>`)}</ol>`}</section>`}
    ${investigation.refused.value.length > 0 && html`<p class="hint warn"><${Icon} name="lock" /><span>${t("incident.refused")} ${[...new Set(investigation.refused.value.map(({ kind }) => kind.plural))].join(", ")}</span></p>`}
    <section aria-labelledby="line-title"><h2 id="line-title">${t("incident.line")}</h2><${Line} changes=${changes} others=${others} began=${began} window=${minutes * 60_000} at=${at} /></section>
  </div>`;
}

/** @param {{ changes: import("./suspects.js").ChangeEntry[], others: import("../details/timeline.js").Entry[], began: import("./suspects.js").Break | null, window: number, at: number }} props */
function Line({ changes, others, began, window: span, at }) {
  const events = others.map((entry) => ({ at: Date.parse(entry.at), entry })).filter((each) => Math.abs(each.at - at) <= span);
  /** @type {{ at: number, change?: import("./suspects.js").ChangeEntry, entry?: import("../details/timeline.js").Entry, mark?: boolean }[]} */
  const all = [...changes.map((change) => ({ at: change.at, change })), ...events, ...(began ? [{ at: began.at, mark: true }] : [])];
  all.sort((a, b) => b.at - a.at || Number(Boolean(b.entry)) - Number(Boolean(a.entry)) || Number(Boolean(b.mark)) - Number(Boolean(a.mark)));
  if (all.length === 0) return html`<p class="soft">${t("incident.empty")}</p>`;
  return html`<ol class="timeline" role="list">${all.slice(0, ENTRIES_MAX).map((each, i) => {
    if (each.mark) return html`<li key="mark" class="event bad incident-mark"><span class="event-icon"><${Icon} name="bad" /></span><strong>${t("incident.mark")}</strong></li>`;
    const level = each.entry?.level ?? "neutral";
    return html`<li key=${i} class=${`event ${level}`}>
      <span class="event-icon"><${Icon} name=${each.change ? "edit" : level} /><span class="visually-hidden">${t(each.change ? "history.changed" : `health.${level}`)}</span></span>
      <span class="event-time"><${Age} at=${new Date(each.at).toISOString()} /><span class="soft clock">${clockFormat().format(each.at)}</span></span>
      <div class="event-body">${each.change ? html`<${Change} entry=${each.change} />` : each.entry && html`<${EventLine} entry=${each.entry} />`}</div></li>`;
  })}</ol>`;
}

/** @param {{ entry: import("../details/timeline.js").Entry }} props */
function EventLine({ entry }) {
  return html`<div class="event-head"><strong translate=${Boolean(entry.text)}>${entry.text ? t(entry.text, entry.values) : entry.reason}</strong>
    ${entry.about && html`<span class="soft" translate=${false}>${entry.about.kind} ${entry.about.name}</span>`}${entry.count > 1 && html`<span class="soft">${t("events.count", { count: entry.count })}</span>`}</div>
    ${entry.message && html`<p translate=${false}>${safeMessage(entry.message)}</p>`}`;
}
