// Writes NAME.br and NAME.gz next to each file that is named on the command line.
import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

for (const name of process.argv.slice(2)) {
  const content = readFileSync(name);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  writeFileSync(`${name}.br`, brotliCompressSync(content, { params }));
  writeFileSync(`${name}.gz`, gzipSync(content, { level: 9 }));
}
