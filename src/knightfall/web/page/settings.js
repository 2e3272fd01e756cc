// What is shown and taught: it outlives a reload, as the game does.

import { $ } from "./dom.js";
import { LAYERS } from "./layers.js";

export const SETTINGS = ["truth", "after", "teach", "heuristic", ...LAYERS.map((layer) => `layer-${layer}`)];
const SETTINGS_KEY = "knightfall-settings";

export function keepSettings() {
  const values = SETTINGS.map((id) => [id, $(id).type === "checkbox" ? $(id).checked : $(id).value]);
  try {
    sessionStorage.setItem(SETTINGS_KEY, JSON.stringify(Object.fromEntries(values)));
  } catch {
    // forbidden: then they last as long as the page is open
  }
}

export function restoreSettings() {
  let kept = {};
  try {
    kept = JSON.parse(sessionStorage.getItem(SETTINGS_KEY)) ?? {};
  } catch {
    // forbidden, or not what we wrote
  }
  for (const id of SETTINGS) {
    const value = kept[id];
    if (typeof value === "boolean" && $(id).type === "checkbox") $(id).checked = value;
    else if (typeof value === "string" && $(id).type !== "checkbox") $(id).value = value;
  }
}
