/** English texts of terminals and of ports. `{name}` is a value. */

/** @type {import("./catalogue.js").Catalogue} */
export default {
  "detail.tab.terminal": "Terminal",
  "terminal.label": "Terminal in the container {container}",
  "terminal.container": "Container",
  "terminal.command": "Command",
  "terminal.own": "Other command",
  "terminal.own_label": "Command to run",
  "terminal.open": "Open a terminal",
  "terminal.full": "At most {count} terminals are open at once. Close one.",
  "terminal.reader": "Screen reader",
  "terminal.reader_hint": "Lets a screen reader read the output",
  "terminal.tabs": "Terminals",
  "terminal.copy": "Copy the selection",
  "terminal.close": "Close this terminal",
  "terminal.none": "No terminal is open",
  "terminal.none_hint": "Choose a container and a command. The audit log of the server records who opens a terminal.",
  "terminal.not_running": "The Pod does not run",
  "terminal.not_running_hint": "A terminal opens in a container that runs.",
  "terminal.keys": "Ctrl+Shift+C copies, Ctrl+Shift+V pastes, Shift+Esc leaves the terminal.",
  "terminal.dropped": "The output came too fast: {count} bytes were dropped",
  "terminal.exit": "Its exit code is {code}.",
  "terminal.ended": "The command has ended",
  "terminal.lost": "The connection is lost",
  "terminal.reconnect": "Reconnect",
  "terminal.again": "Run it again",
};
