/** Page on which objects are created: from a skeleton, an example, a copy, or files dropped on it. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { apiPath } from "../discovery/kinds.js";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { report, reportError } from "../frame/notices.js";
import { screen } from "../frame/screen.js";
import { query } from "../routes/location.js";
import { useSchema } from "../schema/use_schema.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { CheckState, Problems } from "./check_state.js";
import { CodeEditor, moveTo, replaceText, showMarks } from "./code_editor.js";
import { completions } from "./completion.js";
import { CreateSession } from "./create_session.js";
import { Results } from "./create_results.js";
import { DraftBar } from "./draft_bar.js";
import { draftOf, dropDraft } from "./draft.js";
import { TEXT_MAX } from "./manifest.js";
import { cloneOf, exampleOf, skeletonOf } from "./skeleton.js";

/** @param {{ route: { group: string, version: string, plural: string } }} props */
export function CreatePage({ route }) {
  const kind = session.discovery.find(route) ?? null;
  const schema = useSchema(kind ?? { group: "", version: "v1", plural: "", singular: "", kind: "", namespaced: false, verbs: [], shortNames: [], categories: [] });
  const edit = useMemo(() => new CreateSession(`create ${route.plural}.${route.group} ${query.peek().get("from") ?? ""}`), []);
  const handle = useMemo(() => /** @type {import("./code_editor.js").Handle} */ ({ view: null }), []);
  const current = useRef(schema);
  current.current = schema;
  const extensions = useMemo(() => completions(() => current.current), []);
  const draft = useSignal(draftOf(edit.key));
  const example = useSignal(/** @type {string | null} */ (null));
  const over = useSignal(false);
  const namespace = (query.value.get("ns") ?? "").split(",")[0];
  const from = query.value.get("from") ?? "";
  useSignalEffect(() => {
    screen.value = { title: t("create.title"), kind: kind ?? undefined, command: "" };
  });
  useEffect(() => () => edit.end(), []);
  useSignalEffect(() => {
    const marks = edit.marks.value;
    if (handle.view) showMarks(handle.view, marks);
  });
  const show = (/** @type {string} */ text) => {
    if (!handle.view) return;
    replaceText(handle.view, text);
    edit.text.value = text;
  };
  useEffect(() => {
    if (!kind || edit.dirty.peek()) return;
    if (!from) show(skeletonOf(kind, namespace, schema));
    else if (!edit.text.peek()) {
      const parts = from.split("/");
      const name = /** @type {string} */ (parts.pop());
      session.transport.json(apiPath(kind, parts[0] ?? "", name)).then((object) => show(cloneOf(object)), reportError);
    }
  }, [kind, schema]);
  useEffect(() => {
    if (!kind?.group.includes(".")) return;
    session.transport.json(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${kind.plural}.${kind.group}`).then((crd) => (example.value = exampleOf(schema, crd)), () => {});
  }, [kind, schema]);
  const written = (/** @type {string} */ text) => {
    show(text);
    edit.edit(text);
    handle.view?.focus();
  };
  const dropped = async (/** @type {DragEvent} */ event) => {
    over.value = false;
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    if (files.reduce((sum, file) => sum + file.size, 0) > TEXT_MAX) return report({ title: t("edit.refused"), message: t("edit.too_long"), causes: [] });
    const texts = await Promise.all(files.map((file) => file.text()));
    return written([...(edit.dirty.peek() ? [edit.text.peek()] : []), ...texts].map((text) => text.trim()).join("\n---\n") + "\n");
  };
  const count = edit.documents.value;
  return html`<article class="object edit" aria-labelledby="page-title" onDragOver=${(/** @type {DragEvent} */ event) => (event.preventDefault(), (over.value = true))}
      onDragLeave=${() => (over.value = false)} onDropCapture=${dropped}>
    <header class="toolbar object-head edit-head"><div class="title-line">
      <h1 id="page-title">${t("create.title")} ${kind && html`<span translate=${false}>${kind.kind}</span>`}</h1>
      ${example.value && html`<button type="button" class="button quiet" onClick=${() => written(/** @type {string} */ (example.peek()))}>${t("create.example")}</button>`}
      <div class="spacer" /><${CheckState} edit=${edit} />
      <button type="button" class="button primary" disabled=${count === 0 || edit.checking.value} onClick=${() => edit.create()}>${count > 1 ? t("create.create_all", { count }) : t("create.create")}</button>
    </div><p class="hint">${t("create.hint")}</p></header>
    ${draft.value && html`<${DraftBar} draft=${draft.value} changed=${false} onRestore=${() => (written(draft.peek()?.text ?? ""), (draft.value = null))}
      onDiscard=${() => (dropDraft(edit.key), (draft.value = null))} />`}
    ${edit.dirty.value && !edit.kept.value && html`<p class="draft-note hint"><${Icon} name="lock" />${t("draft.not_kept")}</p>`}
    <div class=${over.value ? "code-frame over" : "code-frame"}>
      <${CodeEditor} text="" label=${t("create.label")} handle=${handle} extensions=${extensions} onChange=${(/** @type {string} */ text) => edit.edit(text)}
        onTooLong=${() => report({ title: t("edit.refused"), message: t("edit.too_long"), causes: [] })} /></div>
    <${Problems} marks=${edit.marks.value} text=${edit.text.value} onChoose=${(/** @type {number} */ at) => handle.view && moveTo(handle.view, at)} />
    <${Results} results=${edit.results.value} />
  </article>`;
}
