// Plain alpha-beta in C++, function for function what src/knightfall/search/alphabeta.py compiles
// to: the same records (layout.h is generated from the NumPy types), the same heuristic call
// by address, principal variation, node limit and seeded order at the root.  It exists only
// as a benchmark.
#include <cstddef>
#include <cstdint>

#include "layout.h"  // struct Geometry, struct State

using Bits = uint64_t;
using Heuristic = double (*)(Geometry *, Bits, int64_t, int64_t, int64_t);

namespace {

constexpr double WIN = 4503599627370496.0;    // 2^52
constexpr double LIMIT = 2251799813685248.0;  // 2^51
constexpr int64_t POCKET = 64;

inline int64_t first(Bits cells) { return __builtin_ctzll(cells); }
inline Bits rest(Bits cells) { return cells & (cells - 1); }
inline Bits bit(int64_t cell) { return Bits(1) << cell; }
inline Bits moves(const Geometry &board, Bits open, int64_t cell) {
    return open & board.knight[cell];
}

inline double leaf(Geometry &board, State &state, Bits open, int64_t mover, int64_t waiter,
                   int64_t ply) {
    state.nodes += 1;
    if (moves(board, open, mover) == 0) return double(ply) - WIN;
    if ((mover | waiter) >= POCKET) return 0.0;
    const bool mine = (ply & 1) == 0;
    const auto heuristic = reinterpret_cast<Heuristic>(state.heuristic);
    double value =
        heuristic(&board, open, mine ? mover : waiter, mine ? waiter : mover, mover);
    if (!(value > -LIMIT))
        value = -LIMIT;
    else if (value > LIMIT)
        value = LIMIT;
    return mine ? value : -value;
}

inline void remember(State &state, int64_t ply, int64_t cell) {
    state.lines[ply][0] = int8_t(cell);
    const int64_t length = state.lengths[ply + 1];
    for (int64_t i = 0; i < length; i++) state.lines[ply][i + 1] = state.lines[ply + 1][i];
    state.lengths[ply] = length + 1;
}

void conclude(State &state, double score, int64_t depth) {
    state.score = score;
    state.depth = depth;
    state.length = state.lengths[0];
    for (int64_t i = 0; i < state.length; i++) state.pv[i] = state.lines[0][i];
    state.move = state.lines[0][0];
}

double value_of(Geometry &board, State &state, Bits open, int64_t mover, int64_t waiter,
                int64_t ply, double alpha, double beta) {
    state.nodes += 1;
    state.lengths[ply] = 0;
    Bits left = moves(board, open, mover);
    if (left == 0) return double(ply) - WIN;
    const bool last = ply + 1 == state.horizon;
    double best = -2.0 * WIN;
    while (left != 0 && state.nodes < board.limit) {
        const int64_t cell = first(left);
        const Bits after = open & ~bit(cell);
        left = rest(left);
        const double value =
            last ? -leaf(board, state, after, waiter, cell, ply + 1)
                 : -value_of(board, state, after, waiter, cell, ply + 1, -beta, -alpha);
        if (value > best) {
            best = value;
            if (value > alpha) {
                alpha = value;
                if (alpha >= beta) break;
                if (last) {
                    state.lines[ply][0] = int8_t(cell);
                    state.lengths[ply] = 1;
                } else {
                    remember(state, ply, cell);
                }
            }
        }
    }
    return best;
}

bool root(Geometry &board, State &state, Bits open, int64_t waiter, int64_t number,
          int64_t depth) {
    double alpha = -2.0 * WIN;
    state.horizon = depth;
    state.nodes += 1;
    for (int64_t i = 0; i < number; i++) {
        if (state.nodes >= board.limit) return false;
        const int64_t cell = state.root[i];
        const Bits after = open & ~bit(cell);
        const double value =
            depth == 1 ? -leaf(board, state, after, waiter, cell, 1)
                       : -value_of(board, state, after, waiter, cell, 1, -2.0 * WIN, -alpha);
        if (value > alpha) {
            alpha = value;
            remember(state, 0, cell);
        }
    }
    if (state.nodes >= board.limit) return false;
    conclude(state, alpha, depth);
    return true;
}

Bits scramble(Bits word) {
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ULL;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBULL;
    return word ^ (word >> 31);
}

int64_t begin(State &state, Bits moves, Bits open, int64_t mover, int64_t waiter) {
    constexpr Bits golden = 0x9E3779B97F4A7C15ULL;
    int64_t number = 0;
    for (; moves != 0; moves = rest(moves)) state.root[number++] = first(moves);
    Bits word = scramble(state.seed ^ golden);
    word = scramble(word ^ open);
    word = scramble(word ^ Bits(mover * 128 + waiter));
    for (int64_t last = number - 1; last > 0; last--) {
        word = scramble(word + golden);
        const int64_t other = int64_t(word % Bits(last + 1));
        const int64_t cell = state.root[last];
        state.root[last] = state.root[other];
        state.root[other] = cell;
    }
    state.nodes = 0;
    state.lines[0][0] = int8_t(state.root[0]);
    state.lengths[0] = 1;
    state.lengths[1] = 0;
    conclude(state, 0.0, 0);
    return number;
}

}  // namespace

extern "C" {

double improved(Geometry *board, Bits open, int64_t me, int64_t opp, int64_t) {
    return double(__builtin_popcountll(open & board->knight[me]) -
                  __builtin_popcountll(open & board->knight[opp]));
}

void alphabeta(Geometry *board, State *state, Bits open, int64_t mover, int64_t waiter) {
    const int64_t number = begin(*state, moves(*board, open, mover), open, mover, waiter);
    root(*board, *state, open, waiter, number, state->depth_limit);
}

}  // extern "C"
