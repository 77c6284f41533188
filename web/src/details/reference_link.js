/** Link to another object. It has a mark if that does not exist. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { html } from "../frame/html.js";
import { Icon } from "../frame/icons.js";
import { apiPath } from "../discovery/kinds.js";
import { momentText } from "../past/moment.js";
import { readObject } from "../past/read.js";
import { objectAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { t } from "../texts/catalogue.js";
import { StatusError } from "../transport/errors.js";

const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const KEPT_MS = 10_000;
/** Answers by path, for a short time. @type {Map<string, { at: number, missing: Promise<boolean> }>} */
const checked = new Map();
const CHECKED_MAX = 500;

/** @param {{ reference: import("./references.js").Reference, showKind?: boolean }} props */
export function ReferenceLink({ reference, showKind = false }) {
  const missing = useSignal(false);
  const kind = session.discovery.ofObject(reference.apiVersion, reference.kind);
  const namespace = kind?.namespaced ? reference.namespace : "";
  const path = kind ? apiPath(kind, namespace, reference.name) : "";
  useEffect(() => {
    let current = true;
    if (kind) isMissing(kind, namespace, reference.name).then((found) => current && (missing.value = found), () => {});
    return () => {
      current = false;
    };
  }, [path]);
  const text = showKind ? `${reference.kind} ${reference.name}` : reference.name;
  if (!kind) return html`<span translate=${false}>${text}</span>`;
  return html`<a class=${missing.value ? "reference missing" : "reference"} href=${objectAddress(kind, namespace, reference.name)}>
    <span translate=${false}>${text}</span>
    ${missing.value && html`<span class="missing-mark"><${Icon} name="broken" />${t("detail.missing")}</span>`}
  </a>`;
}

/**
 * @param {import("../discovery/kinds.js").Kind} kind
 * @param {string} namespace
 * @param {string} name
 */
function isMissing(kind, namespace, name) {
  const path = `${momentText.peek()} ${apiPath(kind, namespace, name)}`;
  const kept = checked.get(path);
  if (kept && Date.now() - kept.at < KEPT_MS) return kept.missing;
  if (checked.size >= CHECKED_MAX) checked.clear();
  const missing = readObject(kind, namespace, name, { accept: METADATA }).then(
    () => false,
    (error) => error instanceof StatusError && error.code === 404,
  );
  checked.set(path, { at: Date.now(), missing });
  return missing;
}
