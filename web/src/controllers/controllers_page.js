/** Page of the controllers of the server and of operators: queues, rates, failing objects. */
import { useEffect } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { screen } from "../frame/screen.js";
import { Loading } from "../frame/states.js";
import { query, setQuery } from "../routes/location.js";
import { ServerLinks } from "../server/server_links.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";
import { ControllerView } from "./controller_view.js";
import { ControllersTable } from "./controllers_table.js";
import { isUsed, ordered } from "./figures.js";
import { Reason } from "./reason.js";
import { PATH } from "./reporters.js";
import { useReports } from "./reports.js";

export function ControllersPage() {
  const [reporter, controller] = [query.value.get("of") ?? "", query.value.get("controller") ?? ""];
  useEffect(() => {
    screen.value = { title: controller || t("controllers.title"), command: `kubectl get --raw ${PATH}` };
  }, [controller]);
  return controller ? html`<${ControllerView} reporter=${reporter || "server"} name=${controller} />` : html`<${Overview} />`;
}

function Overview() {
  const reports = useReports({});
  if (!reports.value) return html`<${Loading} />`;
  const { all, mayListLeases } = reports.value;
  const idle = query.value.get("idle") === "1";
  const wanted = (query.value.get("q") ?? "").toLowerCase();
  const failing = all.reduce((sum, { report }) => sum + (report?.controllers ?? []).reduce((/** @type {number} */ inner, /** @type {any} */ each) => inner + (each.failing ?? 0), 0), 0);
  return html`<section class="controllers" aria-labelledby="page-title">
    <header class="toolbar"><div class="title-line"><h1 id="page-title">${t("controllers.title")}</h1>
      ${failing > 0 && html`<span class="pill bad">${t("controllers.failing_objects", { count: failing })}</span>`}
      <div class="spacer" />
      <input type="search" class="controllers-search" aria-label=${t("controllers.filter")} placeholder=${t("controllers.filter")} value=${query.value.get("q") ?? ""}
        onInput=${(/** @type {any} */ event) => setQuery({ q: event.target.value.trim() })} />
      <label class="check"><input type="checkbox" checked=${idle} onChange=${() => setQuery({ idle: idle ? "" : "1" })} /><span>${t("controllers.idle")}</span></label>
    </div><${ServerLinks} current="controllers" /></header>
    <div class="home-scroll">
      ${all.map((each) => html`<${ReporterSection} key=${each.reporter.id} reported=${each} idle=${idle || wanted !== ""} wanted=${wanted} />`)}
      ${!mayListLeases && html`<p class="quiet-line"><${Icon} name="lock" />${t("controllers.no_leases")}</p>`}
      ${mayListLeases && all.length === 1 && html`<p class="quiet-line">${t("controllers.no_operators")}</p>`}
    </div>
  </section>`;
}

/** @param {{ reported: import("./reports.js").Reported, idle: boolean, wanted: string }} props */
function ReporterSection({ reported, idle, wanted }) {
  const { reporter, report, error } = reported;
  /** @type {import("./figures.js").Controller[]} */
  const controllers = report?.controllers ?? [];
  const shown = ordered(controllers).filter((each) => (idle || isUsed(each)) && each.name.toLowerCase().includes(wanted));
  const id = `reporter-${reporter.id.replace(/\W/g, "-")}`;
  return html`<section class="reporter" aria-labelledby=${id}>
    <h2 id=${id}>${reporter.lease ? html`<span translate=${false}>${visible(reporter.title)}</span>` : t("controllers.server")}
      ${reporter.lease && html`<span class="count" translate=${false}>${visible(reporter.lease.namespace)}${reporter.lease.pod && ` · ${reporter.lease.pod}`}</span>`}
      ${controllers.length > 0 && html`<span class="count">${t("controllers.count", { count: controllers.length })}</span>`}</h2>
    <${Reason} reported=${reported} />
    ${report && controllers.length > 0 && shown.length === 0 && html`<p class="quiet-line">${t(wanted ? "controllers.none_match" : "controllers.all_idle")}</p>`}
    ${shown.length > 0 && html`<${ControllersTable} reporter=${reporter} controllers=${shown} stale=${error !== null} />`}
  </section>`;
}
