/** Page of a list: the objects of one kind in the chosen namespaces, live. */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Marks } from "../bulk/marks.js";
import { html } from "../frame/html.js";
import { Announcer } from "../frame/announcer.js";
import { Empty, Loading } from "../frame/states.js";
import { parseFilter, selectorsOf } from "../filter/parse.js";
import { unknownColumns } from "../filter/match.js";
import { pluralTitle, resourceName } from "../discovery/kinds.js";
import { query, setQuery } from "../routes/location.js";
import { Forbidden, Refused } from "../rights/refused.js";
import { session } from "../session/session.js";
import { Gone } from "../past/gone.js";
import { momentText } from "../past/moment.js";
import { sortOf } from "../table/order.js";
import { t } from "../texts/catalogue.js";
import { screen } from "../frame/screen.js";
import { Grid } from "./grid.js";
import { chosenNamespaces } from "./namespaces.js";
import { ListSource } from "./source.js";
import { Toolbar } from "./toolbar.js";
import { ListView } from "./view.js";

/** @param {{ route: { group: string, version: string, plural: string } }} props */
export function ListPage({ route }) {
  const kind = session.discovery.find(route);
  if (!kind) {
    return session.discovery.loaded.value ? html`<${Empty} whole icon="box" title=${t("app.not_found")} hint=${t("app.not_found_hint")} />` : html`<${Loading} />`;
  }
  return html`<${KindList} key=${`${kind.plural}.${kind.group}`} kind=${kind} />`;
}

/** @param {{ kind: import("../discovery/kinds.js").Kind }} props */
function KindList({ kind }) {
  const marks = useMemo(() => new Marks(), []);
  const terms = useComputed(() => parseFilter(query.value.get("q") ?? ""));
  // Only these need another list of the server.
  const read = useComputed(() =>
    JSON.stringify([chosenNamespaces(query.value), selectorsOf(terms.value), session.discovery.generations.value.get(resourceName(kind))]),
  );
  const source = useMemo(() => {
    const [namespaces, selectors] = JSON.parse(read.value);
    return new ListSource(kind, kind.namespaced ? namespaces : [], selectors);
  }, [read.value]);
  const view = useMemo(
    () =>
      new ListView(source.store, () => ({
        terms: terms.value,
        sort: sortOf(query.value.get("sort") ?? ""),
        problems: query.value.get("problems") === "1",
        wide: query.value.get("wide") === "1",
        namespaced: kind.namespaced && chosenNamespaces(query.value).length !== 1,
        namespaces: source.shown,
      })),
    [source],
  );
  useEffect(() => {
    const end = view.start();
    source.begin();
    return () => {
      source.end();
      end();
    };
  }, [source]);
  useSignalEffect(() => {
    screen.value = { title: pluralTitle(kind), kind, rows: view.rows, command: "" };
  });
  const announced = useSignal("");
  useSignalEffect(() => {
    if (source.listed.value) announced.value = t("list.announce", { count: view.rows.value.length });
  });
  const unknown = unknownColumns(terms.value, view.columns.value);
  const label = t("list.count", { count: view.rows.value.length });
  return html`<section class="list-page" aria-labelledby="page-title">
    <${Toolbar} kind=${kind} view=${view} source=${source} marks=${marks} terms=${terms.value} unknown=${source.listed.value ? unknown : []} />
    <${Content} kind=${kind} view=${view} source=${source} marks=${marks} label=${`${pluralTitle(kind)}: ${label}`} />
    <${Announcer} text=${announced} />
  </section>`;
}

/**
 * @param {{ kind: import("../discovery/kinds.js").Kind, view: ListView, source: ListSource, label: string, marks: Marks }} props
 */
function Content({ kind, view, source, label, marks }) {
  const refused = source.refused.value;
  if (refused && view.total.value === 0) {
    if (refused.code === 410 && momentText.value) return html`<${Gone} />`;
    if (refused.code === 403) return html`<${Forbidden} error=${refused} kind=${kind} />`;
    return html`<${Refused} error=${refused} />`;
  }
  const allowed = source.allowed.value;
  if (kind.namespaced && allowed && !allowed.allNamespaces && allowed.namespaces.length === 0) {
    return html`<${Empty} icon="lock" title=${t("list.no_namespace", { kind: resourceName(kind) })} hint=${t("list.no_namespace_hint")} />`;
  }
  if (!source.listed.value) return html`<${Loading} />`;
  if (view.rows.value.length > 0) return html`<${Grid} view=${view} kind=${kind} label=${label} marks=${marks} />`;
  const total = view.total.value;
  if (total === 0 && !query.value.get("q")) {
    const limited = allowed && !allowed.allNamespaces;
    const hint = !kind.namespaced ? "list.empty_cluster" : query.value.get("ns") ? "list.empty_hint" : limited ? "list.empty_allowed" : "list.empty_cluster";
    return html`<${Empty} icon="box" title=${t("list.empty", { kind: pluralTitle(kind) })} hint=${t(hint)} />`;
  }
  const clear = html`<button type="button" class="button" onClick=${() => setQuery({ q: "", problems: "" })}>${t("list.clear")}</button>`;
  if (query.value.get("problems") === "1" && !query.value.get("q")) {
    return html`<${Empty} icon="good" title=${t("list.healthy")} hint=${t("list.healthy_hint", { total })}>${clear}<//>`;
  }
  const hint = total ? t("list.no_match_hint", { total }) : "";
  return html`<${Empty} icon="filter" title=${t("list.no_match")} hint=${hint}>${clear}<//>`;
}
