/** `Pane`: the screen of a terminal, xterm.js. Output is data: it sets no title, no clipboard and no link. */
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { copyText } from "../frame/copy.js";

const SCROLLBACK = 5000;
/** Bytes of output that wait for the screen. More of them are dropped, with a note. */
const WAITING_MAX = 4 << 20;
/** Operating system commands that xterm.js obeys or may obey: titles, colours, links, notifications, the clipboard. */
const COMMANDS = [0, 1, 2, 4, 7, 8, 9, 10, 11, 12, 50, 52, 104, 110, 111, 112, 633, 777, 1337];
const COLOURS = { black: "sunken", red: "bad", green: "good", yellow: "warn", blue: "progress", magenta: "word", cyan: "key", white: "soft" };

/**
 * @typedef {{ onInput: (text: string) => void, onResize: (columns: number, rows: number) => void, onLeave: () => void, reader: boolean, label: string,
 *   dropped: (bytes: number) => string }} PaneOptions
 * `onLeave` is called when the user leaves the terminal with the keyboard. `dropped` returns the note about output that was dropped.
 */

export class Pane {
  /** @param {PaneOptions} options */
  constructor(options) {
    this.options = options;
    this.element = document.createElement("div");
    this.element.className = "terminal-screen";
    this.waiting = 0;
    this.dropped = 0;
    this.terminal = new Terminal({
      documentOverride: styledDocument(),
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono").trim(),
      fontSize: 13,
      scrollback: SCROLLBACK,
      screenReaderMode: options.reader,
      minimumContrastRatio: 4.5,
      linkHandler: { activate: () => {} },
    });
    for (const code of COMMANDS) this.terminal.parser.registerOscHandler(code, () => true);
    this.fitting = new FitAddon();
    this.terminal.loadAddon(this.fitting);
    this.terminal.onData(options.onInput);
    this.terminal.onResize(({ cols, rows }) => options.onResize(cols, rows));
    this.terminal.attachCustomKeyEventHandler((event) => this.#key(event));
    this.resized = new ResizeObserver(() => this.fit());
    this.themed = new MutationObserver(() => this.#theme());
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.retheme = () => this.#theme();
  }

  /** @param {HTMLElement} host */
  attach(host) {
    host.replaceChildren(this.element);
    if (!this.terminal.element) {
      withStyles(() => this.terminal.open(this.element));
      // Rows are made with the global document, whatever the option says.
      const rows = /** @type {any} */ (this.terminal)._core?._renderService?._renderer?.value?._rowFactory;
      if (rows) rows._document = styledDocument();
      this.terminal.textarea?.setAttribute("aria-label", this.options.label);
      this.themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
      this.dark.addEventListener("change", this.retheme);
      this.#theme();
    }
    this.resized.disconnect();
    this.resized.observe(host);
    this.fit();
    this.terminal.focus();
  }

  fit() {
    if (this.element.isConnected && this.element.clientWidth > 0) this.fitting.fit();
  }

  /** @param {boolean} on */
  read(on) {
    this.terminal.options.screenReaderMode = on;
  }

  /** @param {Uint8Array} data */
  write(data) {
    if (this.waiting > WAITING_MAX) {
      this.dropped += data.length;
      return;
    }
    this.waiting += data.length;
    this.terminal.write(data, () => {
      this.waiting -= data.length;
      if (this.waiting > 0 || this.dropped === 0) return;
      this.terminal.write(`\r\n\u001b[7m${this.options.dropped(this.dropped)}\u001b[0m\r\n`);
      this.dropped = 0;
    });
  }

  get size() {
    return { columns: this.terminal.cols, rows: this.terminal.rows };
  }

  copy() {
    return copyText(this.terminal.getSelection());
  }

  dispose() {
    this.resized.disconnect();
    this.themed.disconnect();
    this.dark.removeEventListener("change", this.retheme);
    this.terminal.dispose();
    this.element.remove();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.type !== "keydown") return true;
    if (event.shiftKey && event.key === "Escape") {
      event.preventDefault();
      this.options.onLeave();
      return false;
    }
    const control = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    if (control && key === "c" && (event.shiftKey || event.metaKey) && this.terminal.hasSelection()) {
      event.preventDefault();
      this.copy();
      return false;
    }
    // The browser pastes; it has no question of this page.
    return !(control && event.shiftKey && key === "v");
  }

  #theme() {
    const probe = document.createElement("span");
    this.element.append(probe);
    const colour = (/** @type {string} */ token) => {
      probe.style.color = `var(--${token})`;
      return getComputedStyle(probe).color;
    };
    /** @type {Record<string, string>} */
    const theme = { background: colour("page"), foreground: colour("ink"), cursor: colour("accent"), cursorAccent: colour("page"), selectionBackground: colour("chosen") };
    for (const [name, token] of Object.entries(COLOURS)) {
      theme[name] = colour(token);
      theme[`bright${name[0].toUpperCase()}${name.slice(1)}`] = colour(token === "sunken" ? "soft" : token === "soft" ? "ink" : token);
    }
    probe.remove();
    this.terminal.options.theme = theme;
  }
}

/**
 * Return a new element. The policy of the page allows style elements with its nonce, and no style attributes as text: such ones
 * become properties.
 * @param {string} name
 * @returns {HTMLElement}
 */
function styledElement(name) {
  const element = Document.prototype.createElement.call(document, name);
  if (name === "style") element.nonce = /** @type {HTMLElement | null} */ (document.querySelector("meta[name=csp-nonce]"))?.nonce ?? "";
  const setAttribute = element.setAttribute.bind(element);
  element.setAttribute = (attribute, value) => {
    if (attribute === "style") element.style.cssText = value;
    else setAttribute(attribute, value);
  };
  return element;
}

/**
 * Run a function during which the document makes such elements: parts of xterm.js use it instead of the one that they are given.
 * @param {() => void} run
 */
function withStyles(run) {
  Object.defineProperty(document, "createElement", { value: styledElement, configurable: true });
  try {
    run();
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
}

/** Return the document for xterm.js. */
function styledDocument() {
  return new Proxy(document, {
    get: (target, name) => {
      if (name === "createElement") return styledElement;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
