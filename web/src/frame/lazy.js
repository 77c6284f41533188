/** A component that is loaded when it is needed. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { html } from "./html.js";
import { Refused } from "../rights/refused.js";
import { Loading } from "./states.js";

/** @type {Map<Function, any>} */
const loaded = new Map();

/** @param {{ load: () => Promise<any>, props: object }} props */
export function Lazy({ load, props }) {
  const component = useSignal(loaded.get(load) ?? null);
  const error = useSignal(/** @type {unknown} */ (null));
  useEffect(() => {
    if (component.peek()) return;
    load().then(
      (found) => {
        loaded.set(load, found);
        component.value = found;
      },
      (failed) => (error.value = failed),
    );
  }, [load]);
  if (error.value) return html`<${Refused} error=${error.value} />`;
  return component.value ? html`<${component.value} ...${props} />` : html`<${Loading} />`;
}
