/** Address of the page. Everything worth showing is in it, so that a copied address shows the same. */
import { computed, signal } from "@preact/signals";

export const BASE = "/dashboard/";

/** Path and query of the address. */
export const address = signal(currentAddress());
export const query = computed(() => new URLSearchParams(address.value.split("?")[1] ?? ""));

function currentAddress() {
  return location.pathname + location.search;
}

/**
 * Go to an address of the page.
 * @param {string} target
 * @param {{ replace?: boolean }} [options]
 */
export function go(target, { replace = false } = {}) {
  if (target === currentAddress()) return;
  if (replace) history.replaceState(null, "", target);
  else history.pushState(null, "", target);
  const before = address.peek().split("?")[0];
  address.value = currentAddress();
  if (!replace && before !== location.pathname) scrollTo(0, 0);
}

/** Parameters of which each change is a step of the browser's history. Filters, orders and switches are none. */
const STEPS = new Set(["ns", "view"]);
/** Parameters that open something: they are a step when they appear or disappear. */
const OPENING = new Set(["at", "rev", "with"]);

/**
 * Change parameters of the address; empty values remove them. Back undoes a change of the place, not of a filter.
 * @param {Record<string, string>} changes
 */
export function setQuery(changes) {
  const before = query.peek();
  const step = Object.entries(changes).some(([name, value]) => {
    const old = before.get(name) ?? "";
    return STEPS.has(name) ? value !== old : OPENING.has(name) && (value === "") !== (old === "");
  });
  go(withQuery(address.peek(), changes), { replace: !step });
}

/**
 * Return an address with changed parameters.
 * @param {string} from
 * @param {Record<string, string>} changes
 */
export function withQuery(from, changes) {
  const [path, before = ""] = from.split("?");
  const parameters = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") parameters.delete(name);
    else parameters.set(name, value);
  }
  const text = parameters.toString().replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%2F", "/");
  return text ? `${path}?${text}` : path;
}

/** Follow links of the page without loading it again, and the buttons Back and Forward. */
export function startRouting() {
  addEventListener("popstate", () => {
    address.value = currentAddress();
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = /** @type {Element} */ (event.target).closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement) || link.target || link.origin !== location.origin) return;
    if (!link.pathname.startsWith(BASE) || link.pathname.startsWith(`${BASE}login/`)) return;
    if (link.hash && link.pathname === location.pathname) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
