/** Example of a kind: that of its CRD or schema, or a skeleton with the required fields. */
import { exampleOf, skeletonOf } from "../edit/skeleton.js";
import { CopyButton } from "../frame/copy.js";
import { html } from "../frame/html.js";
import { t } from "../texts/catalogue.js";
import { visible } from "../transport/errors.js";

/** @param {{ kind: import("../discovery/kinds.js").Kind, schema: import("../schema/schema.js").Schema, crd: any }} props */
export function Example({ kind, schema, crd }) {
  const example = exampleOf(schema, crd);
  const text = example ?? skeletonOf(kind, "default", schema);
  return html`<section aria-labelledby="example-title"><h2 id="example-title">${t(example ? "kind.example" : "kind.skeleton")}</h2>
    <div class="kind-example"><${CopyButton} text=${text} label=${t("kind.copy")} /><pre tabindex="0" translate=${false}>${visible(text)}</pre></div></section>`;
}
