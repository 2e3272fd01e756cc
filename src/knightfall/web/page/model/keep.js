// What outlives a reload: small values in the browser's storage, where it allows that.

/**
 * Read a value from a storage; null where there is none, it is not JSON, or the browser forbids it.
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
 * Write a value to a storage; do nothing where the browser forbids it or has no room.
 * @param {() => Storage} storage
 * @param {string} key
 * @param {unknown} value
 */
export function keep(storage, key, value) {
  try {
    storage().setItem(key, JSON.stringify(value));
  } catch {
    // The value lasts as long as the page is open.
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
