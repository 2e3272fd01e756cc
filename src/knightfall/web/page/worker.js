// The engine in a thread of its own.  Rules, searches and truth are all in the wasm file; this only
// passes numbers.  Whoever wants it to stop ends the thread: another one is there in some milliseconds.

const POCKET = 64, NEVER = 1n << 62n, PAGE = 65536, NONE = -1;
let engine = null, loading = null;

onmessage = async ({ data }) => {
  if (data.load) {
    loading = load(data.load);
    return;
  }
  const { id, ask, ...rest } = data;
  try {
    engine ??= await loading;
    postMessage({ id, answer: ASKED[ask](rest, (part) => postMessage({ id, part })) });
  } catch (error) {
    postMessage({ id, error: String(error?.message ?? error) });
  }
};

async function load({ wasm, about, atlas }) {
  const clock = { now: () => performance.now() };
  const { instance } = await WebAssembly.instantiate(wasm, { env: clock });
  const { memory, __heap_base, ...call } = instance.exports;
  const base = Math.ceil(__heap_base.value / 64) * 64;
  memory.grow(Math.ceil((base + about.memory) / PAGE) - memory.buffer.byteLength / PAGE);
  const addresses = Object.fromEntries(
    about.heuristics.map(({ id }, at) => [id, call.heuristic_address(BigInt(at))]),
  );
  return { call, memory, base, about, atlas, addresses, size: "", lengths: {}, classes: {} };
}

/** Get ready for a board, unless the engine is. */
function begin({ width, height }) {
  const { call, memory, base, about } = engine, size = `${width}x${height}`;
  if (engine.size === size) return;
  if (engine.size) new Uint8Array(memory.buffer, base, about.memory).fill(0); // proofs are of one board
  call.begin(BigInt(base), BigInt(width), BigInt(height));
  call.set_clock(BigInt(base), call.clock_address());
  engine.size = size;
}

/** The engine's functions for a board, their first argument given. */
function on(board) {
  const { call, base } = engine, size = `${board.width}x${board.height}`;
  if (engine.size !== size) {
    engine.lengths[size] ??= lengthsOf(board);
    begin(board);
  }
  return new Proxy(call, {
    get: (functions, name) => (...values) => functions[name](BigInt(base), ...values),
  });
}

const big = (cell) => BigInt(cell);
const set = (word) => BigInt.asUintN(64, word);
const words = ({ open, white, black, side }) =>
  side === "w" ? [open, big(white), big(black)] : [open, big(black), big(white)];
const deadline = (ms) => (ms > 0 ? BigInt(Math.round((performance.now() + ms) * 1e6)) : 0n);

function after(position, cell) {
  const white = position.side === "w" ? cell : position.white;
  const black = position.side === "b" ? cell : position.black;
  return { ...position, white, black, open: position.open & ~(1n << big(cell)), side: position.side === "w" ? "b" : "w" };
}

/** The position after a move, null if it is none. */
const advance = ({ position, cell }) => (targets(position).includes(cell) ? after(position, cell) : null);

function targets(position) {
  const at = on(position), [open, mover] = words(position);
  return cellsOf(set(at.moves(open, mover)));
}

const placed = ({ white, black }) => white !== POCKET && black !== POCKET;

// -- the truth ---------------------------------------------------------------------------------

/** What the atlas has on an opening: the plies of the game; undefined for anything else. */
function stored(position) {
  const cells = position.width * position.height;
  if (!placed(position) || count(position.open) !== cells - 2) return undefined;
  on(position);
  const [, mover, waiter] = words(position);
  return engine.lengths[engine.size]?.[Number(mover) * cells + Number(waiter)];
}

/** The plies of every opening, by the mover's cell · cells + the waiter's; null if there is no atlas.
 *
 * The atlas has boards that are not wider than high, a number for each class of openings; a wider
 * board is read with rows and columns exchanged.
 */
function lengthsOf({ width, height }) {
  const tall = { width: Math.min(width, height), height: Math.max(width, height) };
  const entries = engine.atlas[`${tall.width}x${tall.height}`], cells = width * height;
  if (!entries) return null;
  begin(tall);
  const turned = (cell) => (width > height ? (cell % width) * height + Math.floor(cell / width) : cell);
  const keys = [];
  for (let one = 0; one < cells; one++) {
    for (let other = 0; other < cells; other++) {
      keys.push(one === other ? NONE : engine.call.class_of(BigInt(engine.base), big(turned(one)), big(turned(other))));
    }
  }
  const classes = [...new Set(keys)].filter((key) => key !== NONE).sort((a, b) => (a < b ? -1 : 1));
  const number = (engine.classes[`${width}x${height}`] = new Map(classes.map((key, place) => [key, place])));
  return keys.map((key) => (key === NONE ? undefined : parseInt(entries.slice(6 * number.get(key), 6 * number.get(key) + 2), 16)));
}

/** What the atlas has on the moves of an opening: those that win, as a set, and the best. */
function storedMoves(position) {
  const { width, height } = position, length = stored(position);
  if (!length || width > height) return null;
  const at = on(position), [, mover, waiter] = words(position), one = (cell) => 1n << cell;
  const key = at.class_of(mover, waiter), first = [key / 128n, key % 128n];
  const number = engine.classes[engine.size].get(key), entry = engine.atlas[engine.size].slice(6 * number, 6 * number + 6);
  const moves = cellsOf(set(at.moves(((1n << big(width * height)) - 1n) & ~one(first[0]) & ~one(first[1]), first[0])));
  const [wins, best] = [parseInt(entry.slice(2, 4), 16), parseInt(entry.slice(4), 16)];
  for (let which = 0n; which < at.symmetries(); which++) {
    const image = (cells) => set(at.image(which, cells));
    if (image(one(first[0])) !== one(mover) || image(one(first[1])) !== one(waiter)) continue;
    const won = moves.filter((_, place) => (wins >> place) & 1).reduce((all, cell) => all | one(big(cell)), 0n);
    return { won: image(won), best: cellsOf(image(one(big(moves[best]))))[0], plies: length };
  }
  return null;
}

function cellsOf(word) {
  const found = [];
  for (let cell = 0; word; cell++, word >>= 1n) if (word & 1n) found.push(cell);
  return found;
}

function count(word) {
  let number = 0;
  for (; word; word &= word - 1n) number++;
  return number;
}

/** Plies that a game lasts, odd if the mover wins; −1 if the time was too short. */
function plies(position, until) {
  const known = stored(position);
  if (known !== undefined) return known;
  return Number(on(position).plies(NEVER, until, ...words(position)));
}

function wins(position, until) {
  const known = stored(position);
  if (known !== undefined) return known % 2;
  const at = on(position), [open, mover, waiter] = words(position);
  if (set(at.moves(open, mover)) === 0n) return 0;
  return Number(at.wins(NEVER, until, open, mover, waiter));
}

/** For each move whether it wins and how long the game then lasts; told as it becomes known. */
function truth({ position, ms }, tell) {
  const until = deadline(ms), known = {};
  if (!placed(position)) return placements(position, until, tell);
  const moves = targets(position), book = storedMoves(position);
  for (const cell of moves) {
    const lost = book ? Number(!((book.won >> big(cell)) & 1n)) : wins(after(position, cell), until);
    if (lost !== NONE) known[cell] = { wins: lost === 0, plies: book?.best === cell ? book.plies : null };
  }
  tell(known);
  for (const cell of moves) {
    if (!known[cell] || known[cell].plies !== null) continue;
    const length = plies(after(position, cell), until);
    if (length >= 0) known[cell].plies = length + 1;
    tell(known);
  }
  return known;
}

/** Who wins after each move, without how soon: for whole games. */
function verdicts({ position, ms }) {
  const until = deadline(ms), known = {};
  if (!placed(position)) return known;
  for (const cell of targets(position)) {
    const lost = wins(after(position, cell), until);
    if (lost !== NONE) known[cell] = { wins: lost === 0, plies: null };
  }
  return known;
}

/** Before the knights stand only the atlas can tell. */
function placements(position, until, tell) {
  const known = {};
  on(position);
  if (!engine.lengths[engine.size]) return known;
  for (const cell of targets(position)) {
    const next = after(position, cell);
    const lengths = placed(next) ? [stored(next)] : targets(next).map((reply) => stored(after(next, reply)) + 1);
    if (placed(next)) known[cell] = { wins: lengths[0] % 2 === 0, plies: lengths[0] + 1 };
    else {
      const wonByReply = lengths.filter((length) => length % 2 === 1);
      const length = wonByReply.length ? Math.min(...wonByReply) : Math.max(...lengths);
      known[cell] = { wins: !wonByReply.length, plies: length + 1 };
    }
  }
  tell(known);
  return known;
}

/** For each cell of a board, who wins if the second knight is placed there, by the atlas.
 *
 * `broken` is true where the colour law is: the runner wins.  `mirrors` tells that it does so by
 * reflection, as the second player at once or as the first after one move.
 */
function openings({ position }) {
  const known = {};
  for (const cell of targets(position)) {
    const next = after(position, cell), length = stored(next);
    if (length === undefined) continue;
    const at = on(next), [open, mover, waiter] = words(next), won = length % 2 === 1;
    const broken = won !== (at.is_hunter(mover, waiter) === 1n);
    const reflects = (one) => { const [a, b, c] = words(one); return at.mirrored(a, b, c) === 1n; };
    const mirrors = broken && (won ? targets(next).some((step) => reflects(after(next, step))) : reflects(next));
    known[cell] = { wins: !won, plies: length, broken, mirrors, kind: String(at.class_of(mover, waiter)) };
  }
  return known;
}

/** The line by best play that begins with a move, told step by step as far as time allows. */
function line({ position, cell, ms, steps }, tell) {
  const until = deadline(ms), found = [cell];
  let at = after(position, cell);
  while (found.length < steps) {
    const left = plies(at, until);
    const best = left > 0 ? targets(at).find((one) => plies(after(at, one), until) === left - 1) : undefined;
    if (best === undefined) break;
    found.push(best);
    at = after(at, best);
    tell([...found]);
  }
  return found;
}

/** The longest walk of either knight once they are separated, cell by cell. */
function walks({ position }) {
  const at = on(position), found = {};
  for (const [side, from] of [["w", position.white], ["b", position.black]]) {
    let { open } = position, here = from;
    const path = [here], length = (cells, cell) => Number(at.longest_walk(cells, big(cell)));
    for (let left = length(open, here); left > 0; left--) {
      const steps = targets({ ...position, open, side, [side === "w" ? "white" : "black"]: here });
      const next = steps.find((cell) => length(open & ~(1n << big(cell)), cell) === left - 1);
      if (next === undefined) break; // it takes too long to know
      open &= ~(1n << big(next));
      path.push((here = next));
    }
    found[side] = path;
  }
  return found;
}

/** For each move the reply that makes the position its own image again, if there is one. */
function reflections({ position }) {
  const found = {};
  for (const cell of targets(position)) {
    const next = after(position, cell);
    const reply = targets(next).find((one) => {
      const [open, mover, waiter] = words(after(next, one));
      return on(position).mirrored(open, mover, waiter) === 1n;
    });
    if (reply !== undefined) found[cell] = reply;
  }
  return found;
}

// -- agents ------------------------------------------------------------------------------------

function heuristic(at, terms) {
  const [[weight, id]] = terms;
  const row = engine.about.heuristics.find((one) => one.id === id);
  if (terms.length === 1 && weight === 1 && !row.parameter) return engine.addresses[id];
  at.clear_sum();
  for (const [factor, name, parameter] of terms) at.add_term(engine.addresses[name], factor, parameter);
  return engine.addresses.sum;
}

function isSymmetric(terms) {
  return terms.every(([, id]) => engine.about.heuristics.find((one) => one.id === id).symmetric);
}

function tableFor(nodes) {
  let size = 1 << 12;
  while (size * 16 < nodes && size < engine.about.entries) size *= 2;
  return BigInt(size);
}

function search(position, { method, terms, depth, nodes, ms, seed }) {
  const at = on(position), expected = nodes || (ms ? 50_000 * ms : 1_000_000);
  at.ask_search(heuristic(at, terms), isSymmetric(terms) ? 1n : 0n, big(depth || 64), BigInt(seed),
    method === "deepening" ? tableFor(expected) : 1n << 12n);
  at.search(big(engine.about.methods.indexOf(method)), nodes ? BigInt(nodes) : NEVER, deadline(0.9 * ms), ...words(position));
  const [cell, score, reached, spent, length] = [0n, 1n, 2n, 3n, 4n].map((which) => at.answer(which));
  const line = [];
  for (let ply = 0; ply < length; ply++) line.push(Number(at.line(BigInt(ply))));
  return { cell, score, depth: reached, nodes: spent, line };
}

function choose({ position, agent }) {
  if (agent.kind !== "perfect") return search(position, agent);
  const known = truth({ position, ms: 0.65 * agent.ms }, () => {});
  const moves = targets(position), sure = moves.filter((cell) => known[cell]);
  const winning = sure.filter((cell) => known[cell].wins);
  const length = (cell) => known[cell].plies ?? (known[cell].wins ? 999 : 0);
  if (winning.length) return { cell: winning.reduce((a, b) => (length(b) < length(a) ? b : a)), proven: true };
  if (sure.length === moves.length) return { cell: sure.reduce((a, b) => (length(b) > length(a) ? b : a)), proven: true };
  return search(position, { method: "deepening", terms: [[1, "improved", 0]], depth: 0, nodes: 0, ms: 0.3 * agent.ms, seed: agent.seed });
}

// -- what there is to see ----------------------------------------------------------------------

function look({ position }) {
  const at = on(position), [open, mover, waiter] = words(position), seen = { moves: targets(position) };
  if (!placed(position)) return seen;
  seen.reach = { [position.side]: set(at.reach(open, mover)), [position.side === "w" ? "b" : "w"]: set(at.reach(open, waiter)) };
  seen.separated = at.separated(open, mover, waiter) === 1n;
  seen.hunter = at.is_hunter(mover, waiter) === 1n ? position.side : position.side === "w" ? "b" : "w";
  seen.mirrored = at.mirrored(open, mover, waiter) === 1n;
  seen.others = cellsOf(set(at.moves(open, waiter))).length; // where the one who waits could go
  if (seen.separated) {
    const [mine, theirs] = [mover, waiter].map((cell) => Number(at.longest_walk(open, cell)));
    seen.walks = position.side === "w" ? { w: mine, b: theirs } : { w: theirs, b: mine };
  }
  return seen;
}

/** What heuristics say of each move, from the mover's view. */
function opinions({ position, sums }) {
  const at = on(position), found = {};
  if (!placed(position)) return found;
  for (const cell of targets(position)) {
    const next = after(position, cell), [open, mover, waiter] = words(next);
    found[cell] = sums.map((terms) => at.evaluate(heuristic(at, terms), open, waiter, mover, mover));
  }
  return found;
}

const ASKED = { advance, truth, verdicts, choose, look, opinions, openings, line, walks, reflections };
