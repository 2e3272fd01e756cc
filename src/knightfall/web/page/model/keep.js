// Small values that are kept in the browser's storage over a reload, where the browser allows that.

/**
 * Read a value from a storage; null if it is missing or not JSON, or if the browser forbids reading.
 * @param {() => Storage} storage a function, because reading the property itself may throw
 * @param {string} key
 */
export function restore(storage, key) {
  try {
    return JSON.parse(storage().getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/**
 * Write a value to a storage; do nothing if the browser forbids it or the storage is full.
 * @param {() => Storage} storage
 * @param {string} key
 * @param {unknown} value
 */
export function keep(storage, key, value) {
  try {
    storage().setItem(key, JSON.stringify(value));
  } catch {
    // The value is lost when the page is closed.
  }
}

/**
 * Return `usual` with those entries of a stored value that have the same type.
 * @template {Record<string, any>} T
 * @param {T} usual
 * @param {any} stored
 * @returns {T}
 */
export function merged(usual, stored) {
  const fits = Object.entries(usual).filter(([name, value]) => typeof stored?.[name] === typeof value);
  return { ...usual, ...Object.fromEntries(fits.map(([name]) => [name, stored[name]])) };
}
