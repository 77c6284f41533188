/** Ports of a Pod or a Service as buttons. Each opens a window on a secret path of the server, in a sandbox. */
import { reportError } from "../frame/notices.js";
import { html } from "../frame/html.js";
import { ActionButton } from "../rights/action_button.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";

/** @typedef {{ number: number, scheme: "http" | "https" }} Port */

/**
 * Return the TCP ports of a Pod or a Service; nothing for other objects, and for servers without links to ports.
 * @param {any} object
 * @returns {Port[]}
 */
export function portsOf({ apiVersion, kind, spec }) {
  if (apiVersion !== "v1" || session.viewedAs.value || !session.login.value?.server?.features?.includes("ports")) return [];
  const ports = kind === "Pod"
    ? [...(spec.initContainers ?? []), ...spec.containers].flatMap((/** @type {any} */ each) => each.ports ?? [])
    : kind === "Service" && spec.type !== "ExternalName" ? (spec.ports ?? []) : [];
  /** @type {Map<number, Port>} */
  const found = new Map();
  for (const { containerPort, port, protocol = "TCP", name = "", appProtocol = "" } of ports) {
    const number = containerPort ?? port;
    const secure = name.startsWith("https") || appProtocol.endsWith("https") || number === 443;
    if (protocol === "TCP") found.set(number, { number, scheme: secure ? "https" : "http" });
  }
  return [...found.values()];
}

/** @param {{ object: any, ports: Port[] }} props */
export function Ports({ object: { kind, metadata: { namespace, name } }, ports }) {
  const plural = /** @type {"pods" | "services"} */ (`${kind.toLowerCase()}s`);
  const action = { kind: { group: "", version: "v1", plural }, namespace, name, verb: "get", subresource: "proxy" };
  const open = async (/** @type {Port} */ { number: port, scheme }) => {
    try {
      const { path } = await session.transport.json("/dashboard/ports", { method: "POST", body: { namespace, resource: plural, name, port, scheme } });
      window.open(path, "_blank", "noopener");
    } catch (error) {
      reportError(error);
    }
  };
  return ports.map((each) => html`<${ActionButton} key=${each.number} action=${action} icon="link" precise class="button quiet" onPress=${() => open(each)}>
    ${t("detail.port", { port: String(each.number) })}<//> `);
}
