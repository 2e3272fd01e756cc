// Fetch what the page needs, and begin.

import { App } from "./main.js";

const part = async (name, how) => (await fetch(new URL(name, import.meta.url)))[how]();
const [wasm, about, atlas, ladder] = await Promise.all([
  part("engine.wasm", "arrayBuffer"), part("engine.json", "json"), part("atlas.json", "json"), part("ladder.json", "json"),
]);
const fetched = {};
globalThis.knightfall = new App({
  worker: new URL("worker.js", import.meta.url), load: { wasm, about, atlas }, ladder,
  part: (name) => (fetched[name] ??= part(`${name}.json`, "json")), // what not everybody looks at
  lab: document.querySelector("meta[name=knightfall-lab]")?.content, // only a server has one
});
await globalThis.knightfall.begin();
