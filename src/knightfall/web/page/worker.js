// The engine in a worker thread. The rules, the searches and the solver are in the wasm file; this file translates
// questions and answers. To stop a computation, the page ends the thread and starts another one, which takes some
// milliseconds.

/** @typedef {import("./model/agents.js").Agent} Agent */
/** @typedef {import("./model/heuristics.js").Term} Term */
/** @typedef {import("./model/engine.js").Load} Load */
/** @typedef {import("./model/engine.js").Questions} Questions */
/** @typedef {import("./model/engine.js").Truth} Truth */
/** @typedef {import("./model/notation.js").Board} Board */
/** @typedef {import("./model/notation.js").Position} Position */
/** @typedef {import("./model/notation.js").Side} Side */

/**
 * The functions of the wasm file, described in entry_points.py. A position is passed as the set of open cells, the cell
 * of the side to move and the cell of the other side.
 * @typedef {object} Kernel
 * @property {(width: bigint, height: bigint) => void} begin
 * @property {(address: bigint) => void} set_clock
 * @property {(open: bigint, cell: bigint) => bigint} moves
 * @property {(open: bigint, cell: bigint) => bigint} reach
 * @property {(open: bigint, mover: bigint, waiter: bigint) => bigint} separated
 * @property {(open: bigint, cell: bigint) => bigint} longest_walk
 * @property {(open: bigint, mover: bigint, waiter: bigint) => bigint} mirrored
 * @property {(mover: bigint, waiter: bigint) => bigint} is_hunter
 * @property {(symmetry: bigint, cells: bigint) => bigint} image
 * @property {(mover: bigint, waiter: bigint) => bigint} class_of
 * @property {() => bigint} symmetries
 * @property {() => void} clear_sum
 * @property {(weight: number, open: bigint, filled: bigint) => bigint} add_term
 * @property {(address: bigint, parameter: number, weight: number, open: bigint, filled: bigint, least: number,
 *   below: number) => bigint} add_part
 * @property {(address: bigint, open: bigint) => bigint} sum_asks
 * @property {(open: bigint) => bigint} cluster
 * @property {(open: bigint) => bigint} cluster_center
 * @property {(open: bigint) => bigint} cluster_counts
 * @property {(heuristic: bigint, open: bigint, me: bigint, opp: bigint, mover: bigint) => number} evaluate
 * @property {(heuristic: bigint, symmetric: bigint, depth: bigint, seed: bigint, entries: bigint) => void} ask_search
 * @property {(method: bigint, nodes: bigint, deadline: bigint, ...position: Words) => void} search
 * @property {(which: bigint) => number} answer
 * @property {(ply: bigint) => bigint} line
 * @property {(nodes: bigint, deadline: bigint, ...position: Words) => bigint} wins
 * @property {(nodes: bigint, deadline: bigint, ...position: Words) => bigint} plies
 */

/** @typedef {[open: bigint, mover: bigint, waiter: bigint]} Words a position as the kernel takes it */

/**
 * The engine once it is loaded.
 * @typedef {object} Loaded
 * @property {Kernel} kernel
 * @property {() => void} clear fills the kernel's memory with zeros
 * @property {bigint} clock the address of the clock
 * @property {Load["about"]} about
 * @property {Load["atlas"]} atlas
 * @property {Record<string, bigint>} addresses of the heuristics
 * @property {string} size the board that the memory is laid out for, as in "7x7"; empty before the first
 * @property {Record<string, (number | undefined)[] | null>} lengths by board, what `lengthsOf` returned
 * @property {Record<string, Map<bigint, number>>} classes by board, the place of each class of openings in the atlas
 */

const POCKET = 64;
const NO_LIMIT = 1n << 62n;
const WASM_PAGE = 65536;
const UNKNOWN = -1;

/** @type {Loaded} */
let engine;
/** @type {Promise<Loaded> | undefined} */
let loading;

addEventListener("message", async ({ data }) => {
  if (data.load) {
    loading = load(data.load);
    return;
  }
  const { id, ask, ...about } = data;
  try {
    if (!loading) throw new Error("the engine was not loaded");
    engine = await loading;
    const handler = /** @type {Handler<any>} */ (HANDLERS[/** @type {keyof Questions} */ (ask)]);
    postMessage({ id, answer: handler(about, (part) => postMessage({ id, part })) });
  } catch (error) {
    postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
});

/**
 * Start the wasm file.
 * @param {Load} load
 * @returns {Promise<Loaded>}
 */
async function load({ wasm, about, atlas }) {
  const clock = { now: () => performance.now() };
  const { instance } = await WebAssembly.instantiate(wasm, { env: clock });
  const { memory, __heap_base, heuristic_address, clock_address, ...functions } = /** @type {any} */ (instance.exports);
  const base = Math.ceil(__heap_base.value / 64) * 64;
  memory.grow(Math.ceil((base + about.memory) / WASM_PAGE) - memory.buffer.byteLength / WASM_PAGE);
  /** @type {any} */
  const kernel = {};
  for (const [name, call] of Object.entries(functions)) {
    kernel[name] = (/** @type {any[]} */ ...values) => call(BigInt(base), ...values);
  }
  return {
    kernel,
    clear: () => new Uint8Array(memory.buffer, base, about.memory).fill(0),
    clock: clock_address(),
    about,
    atlas,
    addresses: Object.fromEntries(about.heuristics.map(({ id }, at) => [id, heuristic_address(BigInt(at))])),
    size: "",
    lengths: {},
    classes: {},
  };
}

/**
 * Lay out the memory for a board, unless it is laid out for it already. Proofs of another board are deleted.
 * @param {Board} board
 */
function begin({ width, height }) {
  const { kernel, clear, clock } = engine;
  const size = `${width}x${height}`;
  if (engine.size === size) return;
  if (engine.size) clear();
  kernel.begin(BigInt(width), BigInt(height));
  kernel.set_clock(clock);
  engine.size = size;
}

/**
 * Return the kernel, ready for a board.
 * @param {Board} board
 */
function kernelFor(board) {
  const size = `${board.width}x${board.height}`;
  if (engine.size !== size) {
    if (!(size in engine.lengths)) engine.lengths[size] = lengthsOf(board);
    begin(board);
  }
  return engine.kernel;
}

// -- positions ---------------------------------------------------------------------------------

/** @param {bigint} word */
const unsigned = (word) => BigInt.asUintN(64, word);

/** @param {number | bigint} cell */
const bit = (cell) => 1n << BigInt(cell);

/** @param {Side} side @returns {Side} */
const other = (side) => (side === "w" ? "b" : "w");

/**
 * Return a position as the kernel takes it.
 * @param {Position} position
 * @returns {Words}
 */
function words({ open, white, black, side }) {
  const [mover, waiter] = side === "w" ? [white, black] : [black, white];
  return [open, BigInt(mover), BigInt(waiter)];
}

/**
 * Return a position with one knight on another cell.
 * @param {Position} position
 * @param {Side} side
 * @param {number} cell
 */
const withKnight = (position, side, cell) => ({ ...position, ...(side === "w" ? { white: cell } : { black: cell }) });

/**
 * Return the position after a legal move.
 * @param {Position} position
 * @param {number} cell
 * @returns {Position}
 */
function after(position, cell) {
  const { side, open } = position;
  return { ...withKnight(position, side, cell), open: open & ~bit(cell), side: other(side) };
}

/** @type {Handler<"advance">} */
const advance = ({ position, cell }) => (targets(position).includes(cell) ? after(position, cell) : null);

/**
 * Return the legal moves.
 * @param {Position} position
 */
function targets(position) {
  const [open, mover] = words(position);
  return cellsOf(kernelFor(position).moves(open, mover));
}

/**
 * Return whether both knights are placed.
 * @param {Position} position
 */
const placed = ({ white, black }) => white !== POCKET && black !== POCKET;

/**
 * Return the cells of a set in ascending order.
 * @param {bigint} set
 */
function cellsOf(set) {
  const found = [];
  for (let cell = 0, rest = unsigned(set); rest; cell++, rest >>= 1n) if (rest & 1n) found.push(cell);
  return found;
}

// -- the truth ---------------------------------------------------------------------------------

/**
 * Return the time of the kernel's clock, in nanoseconds, at which to stop; 0 is never.
 * @param {number} ms from now
 */
const deadline = (ms) => (ms > 0 ? BigInt(Math.round((performance.now() + ms) * 1e6)) : 0n);

/**
 * Return the plies that a game lasts from an opening, by the atlas; undefined for any other position.
 * @param {Position} position
 */
function stored(position) {
  const cells = position.width * position.height;
  if (!placed(position) || cellsOf(position.open).length !== cells - 2) return undefined;
  kernelFor(position);
  const [, mover, waiter] = words(position);
  return engine.lengths[engine.size]?.[Number(mover) * cells + Number(waiter)];
}

/**
 * Return the plies of every opening, at the index mover's cell · cells + waiter's cell; null if the atlas has no such
 * board.
 *
 * The atlas has boards that are at least as high as wide. Of each class of openings, in ascending order, it has six
 * hexadecimal digits: the plies, the set of moves that win, and the number of the best move. A wider board is read with
 * rows and columns exchanged.
 * @param {Board} board
 */
function lengthsOf({ width, height }) {
  const tall = { width: Math.min(width, height), height: Math.max(width, height) };
  const entries = engine.atlas[`${tall.width}x${tall.height}`];
  const cells = width * height;
  if (!entries) return null;
  begin(tall);
  /** @param {number} cell */
  const turned = (cell) => BigInt(width > height ? (cell % width) * height + Math.floor(cell / width) : cell);
  /** @type {(bigint | undefined)[]} */
  const keys = [];
  for (let mover = 0; mover < cells; mover++) {
    for (let waiter = 0; waiter < cells; waiter++) {
      keys.push(mover === waiter ? undefined : engine.kernel.class_of(turned(mover), turned(waiter)));
    }
  }
  const classes = [...new Set(keys)].filter((key) => key !== undefined).sort((a, b) => (a < b ? -1 : 1));
  const number = new Map(classes.map((key, place) => [key, place]));
  engine.classes[`${width}x${height}`] = number;
  return keys.map((key) => {
    if (key === undefined) return undefined;
    const at = 6 * Number(number.get(key));
    return parseInt(entries.slice(at, at + 2), 16);
  });
}

/**
 * Return the entry of the atlas for an opening: the set of winning moves, the best move, and the plies.
 * @param {Position} position
 */
function storedMoves(position) {
  const { width, height } = position;
  const plies = stored(position);
  if (!plies || width > height) return null;
  const kernel = kernelFor(position);
  const [, mover, waiter] = words(position);
  const key = kernel.class_of(mover, waiter);
  const first = [key / 128n, key % 128n]; // the representative of the class: the mover's cell and the waiter's
  const at = 6 * Number(engine.classes[engine.size].get(key));
  const entry = engine.atlas[engine.size].slice(at, at + 6);
  const open = (bit(width * height) - 1n) & ~bit(first[0]) & ~bit(first[1]);
  const moves = cellsOf(kernel.moves(open, first[0]));
  const winning = parseInt(entry.slice(2, 4), 16);
  const best = parseInt(entry.slice(4), 16);
  for (let symmetry = 0n; symmetry < kernel.symmetries(); symmetry++) {
    /** @param {bigint} cells */
    const image = (cells) => unsigned(kernel.image(symmetry, cells));
    if (image(bit(first[0])) !== bit(mover) || image(bit(first[1])) !== bit(waiter)) continue;
    const won = moves.filter((_, place) => (winning >> place) & 1).reduce((all, cell) => all | bit(cell), 0n);
    return { won: image(won), best: cellsOf(image(bit(moves[best])))[0], plies };
  }
  return null;
}

/**
 * Return the plies that a game lasts, odd if the side to move wins; `UNKNOWN` if the time was too short.
 * @param {Position} position
 * @param {bigint} until
 */
function plies(position, until) {
  const known = stored(position);
  if (known !== undefined) return known;
  return Number(kernelFor(position).plies(NO_LIMIT, until, ...words(position)));
}

/**
 * Return 1 if the side to move wins, 0 if it loses, `UNKNOWN` if the time was too short.
 * @param {Position} position
 * @param {bigint} until
 */
function wins(position, until) {
  const known = stored(position);
  if (known !== undefined) return known % 2;
  if (!targets(position).length) return 0;
  return Number(kernelFor(position).wins(NO_LIMIT, until, ...words(position)));
}

/**
 * Find out for each move whether it wins, then how long the game lasts after it. Report after every move; for an
 * opening, report at once which moves win, because the atlas has that.
 * @type {Handler<"truth">}
 */
function truth({ position, ms }, onPart) {
  if (!placed(position)) return placements(position);
  const until = deadline(ms);
  /** @type {Truth} */
  const known = {};
  const moves = targets(position);
  const book = storedMoves(position);
  for (const cell of moves) {
    const lost = book ? Number(!(book.won & bit(cell))) : wins(after(position, cell), until);
    if (lost === UNKNOWN) continue;
    known[cell] = { wins: lost === 0, plies: book?.best === cell ? book.plies : null };
    if (!book) onPart(known);
  }
  if (book) onPart(known);
  for (const cell of moves) {
    if (!known[cell] || known[cell].plies !== null) continue;
    const length = plies(after(position, cell), until);
    if (length === UNKNOWN) continue;
    known[cell].plies = length + 1;
    onPart(known);
  }
  return known;
}

/**
 * Find out for each move whether it wins, but not how soon; this is enough to judge whole games.
 * @type {Handler<"verdicts">}
 */
function verdicts({ position, ms }) {
  const until = deadline(ms);
  /** @type {Truth} */
  const known = {};
  if (!placed(position)) return known;
  for (const cell of targets(position)) {
    const lost = wins(after(position, cell), until);
    if (lost !== UNKNOWN) known[cell] = { wins: lost === 0, plies: null };
  }
  return known;
}

/**
 * Return the truth of a position with a knight to be placed, by the atlas; empty if the atlas does not have it.
 * @param {Position} position
 */
function placements(position) {
  /** @type {Truth} */
  const known = {};
  kernelFor(position);
  if (!engine.lengths[engine.size]) return known;
  for (const cell of targets(position)) {
    const next = after(position, cell);
    const openings = placed(next) ? [next] : targets(next).map((reply) => after(next, reply));
    const lengths = openings.map(stored).filter((length) => length !== undefined);
    if (!lengths.length || lengths.length < openings.length) continue;
    if (placed(next)) known[cell] = { wins: lengths[0] % 2 === 0, plies: lengths[0] + 1 };
    else {
      const wonByReply = lengths.filter((length) => length % 2 === 0);
      const length = wonByReply.length ? Math.min(...wonByReply) : Math.max(...lengths);
      known[cell] = { wins: !wonByReply.length, plies: length + 2 };
    }
  }
  return known;
}

/**
 * Return the result of each opening, by the cell where the second knight is placed, from the atlas.
 * @type {Handler<"openings">}
 */
function openings({ position }) {
  /** @type {Questions["openings"]["answer"]} */
  const known = {};
  const kernel = kernelFor(position);
  /** @param {Position} one */
  const reflects = (one) => kernel.mirrored(...words(one)) === 1n;
  for (const cell of targets(position)) {
    const next = after(position, cell);
    const length = stored(next);
    if (length === undefined) continue;
    const [, mover, waiter] = words(next);
    const won = length % 2 === 1; // by the side to move then, the first player
    const broken = won !== (kernel.is_hunter(mover, waiter) === 1n);
    const mirrors = broken && (won ? targets(next).some((step) => reflects(after(next, step))) : reflects(next));
    known[cell] = { wins: !won, plies: length, broken, mirrors, kind: String(kernel.class_of(mover, waiter)) };
  }
  return known;
}

/**
 * Find best play that begins with a move, as far as the time allows. Report after every step.
 * @type {Handler<"line">}
 */
function line({ position, cell, ms, steps }, onPart) {
  const until = deadline(ms);
  const found = [cell];
  let at = after(position, cell);
  while (found.length < steps) {
    const left = plies(at, until);
    const best = left > 0 ? targets(at).find((move) => plies(after(at, move), until) === left - 1) : undefined;
    if (best === undefined) break;
    found.push(best);
    at = after(at, best);
    onPart(found);
  }
  return found;
}

/**
 * Return the longest walk of either knight once they are separated. A walk ends early where the rest takes too long to
 * compute.
 * @type {Handler<"walks">}
 */
function walks({ position }) {
  const kernel = kernelFor(position);
  /** @param {bigint} open @param {number} cell */
  const steps = (open, cell) => Number(kernel.longest_walk(open, BigInt(cell)));
  /** @param {Side} side @param {number} from */
  const walk = (side, from) => {
    const path = [from];
    let { open } = position;
    let here = from;
    for (let left = steps(open, from); left > 0; left--) {
      const moves = targets({ ...withKnight(position, side, here), open, side });
      const next = moves.find((cell) => steps(open & ~bit(cell), cell) === left - 1);
      if (next === undefined) break;
      open &= ~bit(next);
      path.push(next);
      here = next;
    }
    return path;
  };
  return { w: walk("w", position.white), b: walk("b", position.black) };
}

/**
 * Return for each move the reply that makes the position its own mirror image again, if there is one.
 * @type {Handler<"reflections">}
 */
function reflections({ position }) {
  /** @type {Record<number, number>} */
  const found = {};
  for (const cell of targets(position)) {
    const next = after(position, cell);
    const reply = targets(next).find((move) => kernelFor(position).mirrored(...words(after(next, move))) === 1n);
    if (reply !== undefined) found[cell] = reply;
  }
  return found;
}

// -- agents ------------------------------------------------------------------------------------

/**
 * Return the address of a heuristic. A sum is written into the kernel's memory first.
 * @param {Kernel} kernel
 * @param {Term[]} terms
 */
function heuristicAddress(kernel, terms) {
  const { id } = terms[0].parts[0];
  if (isAlone(terms)) return engine.addresses[id];
  kernel.clear_sum();
  for (const { weight, open, filled, parts } of terms) {
    kernel.add_term(weight, BigInt(open), BigInt(filled));
    for (const part of parts) {
      const powers = /** @type {const} */ ([BigInt(part.open), BigInt(part.filled)]);
      kernel.add_part(engine.addresses[part.id], part.parameter, part.weight, ...powers, part.least, part.below);
    }
  }
  return engine.addresses.sum;
}

/**
 * Return whether a sum is just one heuristic, which the kernel has under its own address.
 * @param {Term[]} terms
 */
function isAlone([{ weight, open, filled, parts }, ...others]) {
  return !others.length && weight === 1 && !open && !filled && parts.length === 1 && !rowOf(parts[0].id)?.parameter;
}

/** @param {string} id */
const rowOf = (id) => engine.about.heuristics.find((row) => row.id === id);

/**
 * Return whether mirror images of a position have the same value.
 * @param {Term[]} terms
 */
function isSymmetric(terms) {
  return terms.every(({ parts }) => parts.every(({ id }) => rowOf(id)?.symmetric));
}

/**
 * Return a size of the transposition table that suits a number of nodes.
 * @param {number} nodes
 */
function tableFor(nodes) {
  let size = 1 << 12;
  while (size * 16 < nodes && size < engine.about.entries) size *= 2;
  return BigInt(size);
}

/**
 * Search a position as an agent does.
 * @param {Position} position
 * @param {Pick<Agent, "method" | "terms" | "depth" | "nodes" | "ms" | "seed">} agent
 */
function search(position, { method, terms, depth, nodes, ms, seed }) {
  const kernel = kernelFor(position);
  const expected = nodes || (ms ? 50_000 * ms : 1_000_000);
  const entries = method === "deepening" ? tableFor(expected) : 1n << 12n;
  const symmetric = isSymmetric(terms) ? 1n : 0n;
  kernel.ask_search(heuristicAddress(kernel, terms), symmetric, BigInt(depth || 64), BigInt(seed), entries);
  const number = BigInt(engine.about.methods.indexOf(method));
  kernel.search(number, nodes ? BigInt(nodes) : NO_LIMIT, deadline(0.9 * ms), ...words(position));
  const [cell, score, reached, spent, length] = [0n, 1n, 2n, 3n, 4n].map((which) => kernel.answer(which));
  const line = [];
  for (let ply = 0; ply < length; ply++) line.push(Number(kernel.line(BigInt(ply))));
  return { cell, score, depth: reached, nodes: spent, line };
}

/**
 * Choose an agent's move. The perfect player wins as soon and loses as late as possible; if the time is too short for
 * a proof, it searches.
 * @type {Handler<"choose">}
 */
function choose({ position, agent }) {
  if (agent.kind !== "perfect") return search(position, agent);
  const known = truth({ position, ms: 0.65 * agent.ms }, () => {});
  const moves = targets(position);
  const sure = moves.filter((cell) => known[cell]);
  const winning = sure.filter((cell) => known[cell].wins);
  /** @param {number} cell */
  const length = (cell) => known[cell].plies ?? (known[cell].wins ? 999 : 0);
  if (winning.length) return { cell: winning.reduce((a, b) => (length(b) < length(a) ? b : a)), proven: true };
  if (sure.length === moves.length) {
    return { cell: sure.reduce((a, b) => (length(b) > length(a) ? b : a)), proven: true };
  }
  return search(position, { ...agent, method: "deepening", depth: 0, nodes: 0, ms: 0.3 * agent.ms });
}

// -- what the page shows -----------------------------------------------------------------------

/**
 * Return the facts about a position.
 * @type {Handler<"look">}
 */
function look({ position }) {
  const { side } = position;
  const moves = targets(position);
  if (!placed(position)) return { moves };
  const kernel = kernelFor(position);
  const [open, mover, waiter] = words(position);
  /** @type {<T>(mine: T, theirs: T) => Record<Side, T>} */
  const bySide = (mine, theirs) => (side === "w" ? { w: mine, b: theirs } : { w: theirs, b: mine });
  const separated = kernel.separated(open, mover, waiter) === 1n;
  /** @param {bigint} cell */
  const walk = (cell) => Number(kernel.longest_walk(open, cell));
  return {
    moves,
    reach: bySide(unsigned(kernel.reach(open, mover)), unsigned(kernel.reach(open, waiter))),
    separated,
    hunter: kernel.is_hunter(mover, waiter) === 1n ? side : other(side),
    mirrored: kernel.mirrored(open, mover, waiter) === 1n,
    others: cellsOf(kernel.moves(open, waiter)).length,
    ...(separated ? { walks: bySide(walk(mover), walk(waiter)) } : {}),
  };
}

/**
 * Return the value of each move by some heuristics, for the side that moves.
 * @type {Handler<"opinions">}
 */
function opinions({ position, sums }) {
  /** @type {Record<number, number[]>} */
  const found = {};
  if (!placed(position)) return found;
  const kernel = kernelFor(position);
  for (const cell of targets(position)) {
    const [open, mover, waiter] = words(after(position, cell));
    found[cell] = sums.map((terms) => kernel.evaluate(heuristicAddress(kernel, terms), open, waiter, mover, mover));
  }
  return found;
}

/**
 * Return the window of open_cluster, if one of some heuristics contains open_cluster in this position.
 * @type {Handler<"cluster">}
 */
function cluster({ position, sums }) {
  if (!placed(position)) return null;
  const kernel = kernelFor(position);
  const { open } = position;
  const wanted = engine.addresses.open_cluster;
  const asks = sums.some((terms) => {
    const address = heuristicAddress(kernel, terms);
    return address === wanted || (address === engine.addresses.sum && kernel.sum_asks(wanted, open) === 1n);
  });
  if (!asks) return null;
  const cells = cellsOf(kernel.cluster(open));
  return {
    cells,
    center: Number(kernel.cluster_center(open)),
    blocked: cells.filter((cell) => !(open & bit(cell))).length,
    counts: kernel.cluster_counts(open) === 1n,
  };
}

/**
 * A function that answers one kind of question.
 * @template {keyof Questions} Name
 * @typedef {(asked: Questions[Name]["asked"], onPart: (part: Questions[Name]["answer"]) => void) =>
 *   Questions[Name]["answer"]} Handler
 */

/** @type {{[Name in keyof Questions]: Handler<Name>}} */
const HANDLERS = { advance, truth, verdicts, choose, look, opinions, cluster, openings, line, walks, reflections };
