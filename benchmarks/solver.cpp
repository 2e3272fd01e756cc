// Decides who wins an opening: the plain method, and one improvement at a time on top of it.
//
// Plain: depth first, one word of table per position, moves in the order of
// 4 * (the opponent's moves) - 3 * (the own moves).  Each -D switch adds an improvement:
//
//   TRAPPED        see the end two plies early: never visit a position that is over next move
//   TABLE_FROM=n   use the table only where at least n cells are open
//   SPACE_FROM=n   where at least n cells are open, order also by cells two moves away
//   CUTOFFS        look all children up before searching one
//   SEPARATION     recognise knights that can no longer meet, and compare their longest paths
//   REACHABLE      leave cells out of the key that neither knight can reach (with SEPARATION)
#include <algorithm>
#include <cstdint>

#ifndef TABLE_FROM
#define TABLE_FROM 0
#endif
#ifndef SPACE_FROM
#define SPACE_FROM 99
#endif
#ifndef TRAPPED
#define TRAPPED 0
#endif
#ifndef CUTOFFS
#define CUTOFFS 0
#endif
#ifndef SEPARATION
#define SEPARATION 0
#endif
#ifndef REACHABLE
#define REACHABLE 0
#endif

typedef uint64_t Bits;

static Bits knight[64], every, dark, not_first, not_first_two, not_last, not_last_two;
static int stride;
static Bits *table, mask;
static int64_t nodes;

static inline int count(Bits cells) { return __builtin_popcountll(cells); }
static inline int first(Bits cells) { return __builtin_ctzll(cells); }
static inline Bits bit(int cell) { return Bits(1) << cell; }

static inline Bits spread(Bits cells) {
  Bits one = ((cells << 1) & not_first) | ((cells >> 1) & not_last);
  Bits two = ((cells << 2) & not_first_two) | ((cells >> 2) & not_last_two);
  return ((one << 2 * stride) | (one >> 2 * stride) | (two << stride) | (two >> stride)) & every;
}

// 49 bits of open cells, 6 + 6 of knights, and the answer below: one word.
static inline Bits key_of(Bits open, int mover, int waiter) {
  return open | Bits(mover) << 49 | Bits(waiter) << 55;
}
static inline Bits &slot(Bits key) {
  Bits hash = key * 0x9E3779B97F4A7C15ull;
  return table[(hash ^ hash >> 32) & mask];
}

// -- separated knights ------------------------------------------------------------------------

static int bound(Bits room, int cell) {
  int other = count(room & dark), same = count(room) - other;
  if (dark & bit(cell)) std::swap(other, same);
  return std::min(2 * other, 2 * same + 1);
}

// A greedy path: it moves to the cell with the fewest exits, and to dead ends last.
static int greedy(Bits open, int cell) {
  for (int steps = 0;; steps++) {
    Bits left = open & knight[cell];
    if (!left) return steps;
    int best = 0, fewest = 99;
    for (; left; left &= left - 1) {
      int ways = count(open & knight[first(left)]);
      if (!ways) ways = 50;
      if (ways < fewest) fewest = ways, best = first(left);
    }
    open &= ~bit(cell = best);
  }
}

// The longest path, or any of at least `goal` steps.
static int walk(Bits open, int cell, int goal) {
  Bits left = open & knight[cell];
  if (!left) return 0;
  if (goal <= 1) return 1;
  Bits room = left, edge = left;
  while (edge) edge = spread(edge) & open & ~room, room |= edge;
  int most = std::min(bound(room, cell), goal), best = 0;
  for (; left && best < most; left &= left - 1)
    best = std::max(best, 1 + walk(room & ~bit(first(left)), first(left), most - 1));
  return best;
}

static bool longer(Bits my_room, int mover, Bits their_room, int waiter) {
  int mine = greedy(my_room, mover), theirs = greedy(their_room, waiter);
  int my_most = bound(my_room, mover), their_most = bound(their_room, waiter);
  if (mine > their_most) return true;
  if (theirs >= my_most) return false;
  theirs = walk(their_room, waiter, 64);
  return mine > theirs || walk(my_room, mover, theirs + 1) > theirs;
}

// -- the search ------------------------------------------------------------------------------

static inline bool trapped(Bits ways, Bits enemy) {
  return !(ways & (ways - 1)) && (!ways || (ways & enemy));
}

static bool wins(Bits open, int mover, int waiter) {
  nodes++;
  Bits mine = open & knight[mover], theirs = open & knight[waiter];
  if (!mine) return false;
  int left = count(open);
  if (SEPARATION && !(mine & theirs)) {
    Bits a = mine, edge = mine, b = theirs, brink = theirs;
    bool apart = false;
    while (!(a & b)) {
      if (!edge || !brink) { apart = true; break; }
      a |= edge = spread(edge) & open & ~a;
      b |= brink = spread(brink) & open & ~b;
    }
    if (apart) {
      while (edge) a |= edge = spread(edge) & open & ~a;
      while (brink) b |= brink = spread(brink) & open & ~b;
      return longer(a, mover, b, waiter);
    }
    if (REACHABLE) {
      Bits reached = a | b;
      edge |= brink;
      while (edge) reached |= edge = spread(edge) & open & ~reached;
      open = reached;
    }
  }
  Bits key = key_of(open, mover, waiter);
  if (left >= TABLE_FROM) {
    Bits entry = slot(key);
    if (entry >> 1 == key) return entry & 1;
  }
  int cells[8], values[8], number = 0;
  for (; mine; mine &= mine - 1) {
    int cell = first(mine);
    Bits after = open & ~bit(cell), my_ways = after & knight[cell], their_ways = theirs & after;
    if (TRAPPED && trapped(my_ways, their_ways)) continue;
    if (CUTOFFS && left > TABLE_FROM) {
      Bits child = key_of(after, waiter, cell);
      if (slot(child) == child << 1) return true;
    }
    int value = 4 * count(their_ways) - 3 * count(my_ways);
    if (left >= SPACE_FROM) {
      value = 8 * count(their_ways) - 4 * count(my_ways);
      value += 2 * count(spread(their_ways) & after) - 2 * count(spread(my_ways) & after);
    }
    int at = number++;
    for (; at && values[at - 1] > value; at--) values[at] = values[at - 1], cells[at] = cells[at - 1];
    values[at] = value, cells[at] = cell;
  }
  bool won = false;
  for (int i = 0; i < number && !won; i++) won = !wins(open & ~bit(cells[i]), waiter, cells[i]);
  if (left >= TABLE_FROM) slot(key) = key << 1 | won;
  return won;
}

// Whether the side to move wins an opening of a W x H board (at most 49 cells); the table has
// 2^bits words and must be filled with ones.
extern "C" int solve(int width, int height, int mover, int waiter, Bits *words, int bits,
                     int64_t *spent) {
  table = words, mask = bit(bits) - 1, stride = width, nodes = 0;
  every = dark = not_first = not_first_two = not_last = not_last_two = 0;
  for (int cell = 0; cell < width * height; cell++) {
    int row = cell / width, column = cell % width;
    every |= bit(cell);
    if ((row + column) % 2) dark |= bit(cell);
    if (column >= 1) not_first |= bit(cell);
    if (column >= 2) not_first_two |= bit(cell);
    if (column < width - 1) not_last |= bit(cell);
    if (column < width - 2) not_last_two |= bit(cell);
  }
  for (int cell = 0; cell < width * height; cell++) knight[cell] = spread(bit(cell));
  Bits open = every & ~bit(mover) & ~bit(waiter);
  Bits mine = open & knight[mover], theirs = open & knight[waiter];
  bool over = TRAPPED && (!mine || trapped(theirs, mine));
  int won = over ? mine != 0 : wins(open, mover, waiter);
  *spent = nodes;
  return won;
}
