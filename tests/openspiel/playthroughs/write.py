"""Write the playthroughs of this folder again, after a change of the game that is meant."""

from pathlib import Path

from absl import flags
from open_spiel.python.algorithms import generate_playthrough

import knightfall.openspiel  # noqa: F401  registers the game

GAMES = {
    "free_placement": "knights_isolation",
    "random_placement": "knights_isolation(board=5x4,placement=random)",
}

if __name__ == "__main__":
    flags.FLAGS.mark_as_parsed()
    for name, game in GAMES.items():
        text = generate_playthrough.playthrough(game, None, seed=1)
        Path(__file__).with_name(f"{name}.txt").write_text(text, encoding="utf-8")
