/** Templates of the page (the function html). Every value is text or an attribute, never markup. */
import htm from "htm";
import { h } from "preact";

export const html = htm.bind(h);
