/** Start of the page. */
import { render } from "preact";
import { App } from "./frame/app.js";
import { html } from "./frame/html.js";
import { startKeys } from "./frame/keys.js";
import { startRouting } from "./routes/location.js";
import { startActivity } from "./session/activity.js";
import { session } from "./session/session.js";
import { initialLanguage, useLanguage } from "./texts/catalogue.js";
import { startClock } from "./time/clock.js";

startClock();
startActivity();
startRouting();
startKeys();
const ready = useLanguage(initialLanguage(navigator.languages));
session.begin();
ready.catch(() => useLanguage("en")).then(() => render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app"))));
