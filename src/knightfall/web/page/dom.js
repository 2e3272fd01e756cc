// An element by its id.

export const $ = (id) => document.getElementById(id);
