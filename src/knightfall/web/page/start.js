// Fetch the data that the page needs, and start the page.

import { Page } from "./page.js";

/**
 * @param {string} name
 * @param {"json" | "arrayBuffer"} how
 */
const read = async (name, how) => (await fetch(new URL(name, import.meta.url)))[how]();
const [wasm, about, atlas, ladder] = await Promise.all([
  read("engine.wasm", "arrayBuffer"),
  read("engine.json", "json"),
  read("atlas.json", "json"),
  read("ladder.json", "json"),
]);
/** @type {Record<string, Promise<any>>} */
const fetched = {};
const lab = document.querySelector("meta[name=knightfall-lab]")?.getAttribute("content") ?? undefined;
const page = new Page({
  worker: new URL("worker.js", import.meta.url),
  load: { wasm, about, atlas },
  ladder,
  part: (name) => (fetched[name] ??= read(`${name}.json`, "json")),
  lab,
});
Object.assign(globalThis, { knightfall: page }); // for the console
await page.begin();
