/** Page on which one object is edited as YAML. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { report } from "../frame/notices.js";
import { screen } from "../frame/screen.js";
import { Empty, Loading } from "../frame/states.js";
import { Forbidden, Refused } from "../rights/refused.js";
import { deletedAddress, objectAddress } from "../routes/routes.js";
import { useSchema } from "../schema/use_schema.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { CheckState, Problems } from "./check_state.js";
import { CodeEditor, fold, moveTo, replaceText, showMarks } from "./code_editor.js";
import { completions } from "./completion.js";
import { DraftBar } from "./draft_bar.js";
import { EditSession } from "./edit_session.js";
import { pathText } from "./field_paths.js";
import { placeOf, readManifest } from "./manifest.js";
import { Review } from "./review.js";

/** @param {{ route: { group: string, version: string, plural: string, namespace: string, object: string } }} props */
export function EditPage({ route }) {
  const kind = session.discovery.find(route);
  if (!kind) return session.discovery.loaded.value ? html`<${Empty} whole icon="box" title=${t("app.not_found")} hint=${t("app.not_found_hint")} />` : html`<${Loading} />`;
  return html`<${Editing} key=${`${kind.plural}.${kind.group}`} kind=${kind} namespace=${route.namespace} name=${route.object} />`;
}

/** @param {{ kind: import("../discovery/kinds.js").Kind, namespace: string, name: string }} props */
function Editing({ kind, namespace, name }) {
  const edit = useMemo(() => new EditSession({ kind, namespace, name }), []);
  useEffect(() => {
    const stop = new AbortController();
    edit.run(stop.signal);
    return () => {
      stop.abort();
      edit.end();
    };
  }, []);
  useSignalEffect(() => {
    screen.value = { title: `${t("edit.title")} · ${name}`, kind, command: "" };
  });
  const refused = edit.refused.value;
  if (refused?.code === 403) return html`<${Forbidden} whole error=${refused} kind=${kind} verb="get" namespace=${namespace} />`;
  if (refused?.code === 404) return html`<${Empty} whole icon="box" title=${t("detail.gone", { kind: kind.kind, name })} hint=${t("detail.gone_hint")} />`;
  if (refused) return html`<${Refused} error=${refused} />`;
  if (!edit.base.value) return html`<${Loading} />`;
  return html`<${Editor} edit=${edit} />`;
}

/** @param {{ edit: EditSession }} props */
function Editor({ edit }) {
  const { kind, namespace, name } = edit.target;
  const handle = useMemo(() => /** @type {import("./code_editor.js").Handle} */ ({ view: null }), []);
  const back = objectAddress(kind, namespace, name);
  const saving = useSignal(false);
  const said = useSignal("");
  const schema = useSchema(kind);
  const current = useRef(schema);
  current.current = schema;
  const extensions = useMemo(() => completions(() => current.current), []);
  useEffect(() => foldServerFields(handle), []);
  useSignalEffect(() => {
    const marks = edit.marks.value;
    if (handle.view) showMarks(handle.view, marks);
  });
  useEffect(() => {
    const leaving = (/** @type {BeforeUnloadEvent} */ event) => edit.dirty.peek() && !edit.kept.peek() && event.preventDefault();
    addEventListener("beforeunload", leaving);
    return () => removeEventListener("beforeunload", leaving);
  }, []);
  const show = (/** @type {string} */ text) => {
    if (!handle.view) return;
    replaceText(handle.view, text);
    foldServerFields(handle);
    handle.view.focus();
  };
  const discard = () => {
    edit.edit(edit.original.peek());
    show(edit.original.peek());
  };
  const saved = (/** @type {any} */ object) => {
    saving.value = false;
    said.value = t("edit.saved");
    show(edit.saved(object));
  };
  const merged = () => {
    saving.value = false;
    const { text, both } = edit.merge();
    show(text);
    if (both.length) report({ title: t("review.merged"), message: t("review.both", { paths: both.map(pathText).join(", ") }), causes: [] });
  };
  return html`<article class="object edit" aria-labelledby="page-title">
    <header class="toolbar object-head edit-head">
      <a class="crumb" translate=${false} href=${back}><${Icon} name="back" />${kind.kind}</a>
      <div class="title-line">
        <h1 id="page-title"><span class="visually-hidden">${t("edit.title")} </span><span translate=${false}>${name}</span></h1>
        ${said.value && !edit.dirty.value && html`<span class="health pill good" role="status"><${Icon} name="good" />${said.value}</span>`}
        ${edit.dirty.value && html`<span class="health pill progress">${t("edit.changed")}</span>`}
        <div class="spacer" />
        <${CheckState} edit=${edit} />
        <button type="button" class="button quiet" disabled=${!edit.dirty.value} onClick=${discard}>${t("edit.discard")}</button>
        <button type="button" class="button primary" disabled=${!edit.dirty.value || !edit.readable.value || edit.gone.value} onClick=${() => (saving.value = true)}>${t("edit.review")}</button>
      </div>
    </header>
    ${edit.draft.value && html`<${DraftBar} draft=${edit.draft.value} changed=${edit.draft.value.base?.metadata.resourceVersion !== edit.stored.value?.metadata.resourceVersion}
      onRestore=${() => show(edit.restore())} onDiscard=${() => edit.forget()} />`}
    ${edit.gone.value && html`<div class="draft-bar" role="status"><${Icon} name="warn" /><p>${t("edit.gone")}</p><div class="spacer" />
      <a class="button" href=${deletedAddress(kind, { ...(namespace ? { ns: namespace } : {}), q: name })}>${t("deleted.find")}</a></div>`}
    ${edit.dirty.value && !edit.kept.value && html`<p class="draft-note hint"><${Icon} name="lock" />${t("draft.not_kept")}</p>`}
    <div class="code-frame">
      <${CodeEditor} text=${edit.text.peek()} label=${t("edit.label", { name })} handle=${handle} extensions=${extensions} onChange=${(/** @type {string} */ text) => edit.edit(text)}
        onTooLong=${() => report({ title: t("edit.refused"), message: t("edit.too_long"), causes: [] })} />
    </div>
    <${Problems} marks=${edit.marks.value} text=${edit.text.value} onChoose=${(/** @type {number} */ at) => handle.view && moveTo(handle.view, at)} />
    ${saving.value && html`<${Review} edit=${edit} schema=${schema} onClose=${() => (saving.value = false)} onMerge=${merged} onSaved=${saved} />`}
  </article>`;
}

/**
 * Fold what the server writes.
 * @param {import("./code_editor.js").Handle} handle
 */
function foldServerFields(handle) {
  if (!handle.view) return;
  const { parts } = readManifest(handle.view.state.doc.toString());
  const { document, value } = parts[0] ?? {};
  if (!document) return;
  const ends = (/** @type {string[]} */ path) => {
    const node = document.getIn(path, true);
    return { from: placeOf(document, path).from, to: node?.range?.[1] ?? 0 };
  };
  const ranges = [...(value.metadata?.managedFields ? [ends(["metadata", "managedFields"])] : []), ...(value.status ? [ends(["status"])] : [])];
  fold(handle.view, ranges);
}
