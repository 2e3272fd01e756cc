#!/usr/bin/env node
// Runs Fairy-Stockfish's WebAssembly build as an ordinary UCI engine.  In the folder of this file:
//
//   npm install fairy-stockfish-nnue.wasm
//   knightfall match "uci(./fairy_stockfish.cjs, nodes=10000)" improved --pairs 5
//
// Another folder of the package may be given as argument.
const fs = require("node:fs");
const path = require("node:path");
const readline = require("node:readline");

delete globalThis.fetch; // the build would load its own file by fetch, which knows no paths

async function main(folder) {
  const engine = await require(path.join(folder, "stockfish.js"))();
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [, file] = line.match(/^setoption name VariantPath value (.+)$/) ?? [];
    if (file) {
      // The engine sees no files but its own.
      engine.FS.writeFile("/variants.ini", fs.readFileSync(file));
      engine.postMessage("setoption name VariantPath value /variants.ini");
    } else if (line === "quit") {
      process.exit(0);
    } else {
      engine.postMessage(line);
    }
  }
  engine.postMessage("quit"); // the input has ended
}

main(path.resolve(process.argv[2] ?? path.join(__dirname, "node_modules/fairy-stockfish-nnue.wasm")));
