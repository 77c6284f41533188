/** Link to an object that a report names, if the server has its kind. */
import { html } from "../frame/html.js";
import { objectAddress } from "../routes/routes.js";
import { session } from "../session/session.js";
import { visible } from "../transport/errors.js";
import { placeOf, resourceOf } from "./figures.js";

/**
 * @param {{ resource: string, object: string, parameters?: Record<string, string>, short?: boolean }} props
 * `short`: without the namespace.
 */
export function ObjectLink({ resource, object, parameters = {}, short = false }) {
  const kind = session.discovery.find(resourceOf(resource));
  const { namespace, name } = placeOf(object);
  const text = visible(short ? name : object);
  if (!kind || !name) return html`<span translate=${false}>${text}</span>`;
  return html`<a translate=${false} title=${visible(`${kind.kind} ${object}`)} href=${objectAddress(kind, namespace, name, parameters)}>${text}</a>`;
}

/**
 * Return the kind of a resource, or its name.
 * @param {string} resource
 */
export function kindText(resource) {
  return session.discovery.find(resourceOf(resource))?.kind ?? resource;
}
