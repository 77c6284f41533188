/** Downloads of files that the page makes. */

/**
 * Save a file. Its name has safe characters only.
 * @param {Blob} blob
 * @param {string} name
 * @param {string} extension
 */
export function save(blob, name, extension) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${name.replace(/[^A-Za-z0-9.-]/g, "_").replace(/^\.+/, "_").slice(0, 200)}.${extension}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
