/** Name of the option of the server that keeps a longer history. */
import { html } from "../frame/html.js";

const OPTION = "--history-retention";

export function RetentionOption() {
  return html`<code translate=${false}>${OPTION}</code>`;
}
