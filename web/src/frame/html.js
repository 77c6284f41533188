/** Templates of the page (the function html). Every value is text or an attribute, never markup.
 *
 * `translate=${false}` marks data of the server: translators leave it, and tests know it from texts of the page. Preact sets
 * the property, so the text "no" would mean yes.
 */
import htm from "htm";
import { h } from "preact";

export const html = htm.bind(h);
