// Short sounds for moves and ends of games, synthesised by the browser; off by default.

import { winnerOf } from "../model/status.js";

/** @typedef {import("../model/store.js").Store} Store */

/** @param {Store} store */
export function addSound(store) {
  /** @type {AudioContext | null} */
  let audio = null;
  const play = (/** @type {number[]} */ tones) => {
    audio ??= new AudioContext();
    let start = audio.currentTime;
    for (const hertz of tones) {
      const tone = audio.createOscillator();
      const loudness = audio.createGain();
      tone.type = "triangle";
      tone.frequency.value = hertz;
      loudness.gain.setValueAtTime(0.15, start);
      loudness.gain.exponentialRampToValueAtTime(0.001, start + 0.14);
      tone.connect(loudness).connect(audio.destination);
      tone.start(start);
      tone.stop(start + 0.15);
      start += 0.12;
    }
  };
  let before = store.state.game.tree.at;
  store.watch(
    (state) => [state.look],
    ({ look, game, settings }) => {
      if (!look || look.node === before) return;
      const moved = look.node.parent === before;
      before = look.node;
      if (!settings.sound || !moved) return;
      const winner = winnerOf(game, look.seen);
      const mine = !game.agent || winner === game.you;
      play(winner ? (mine ? [440, 554, 659] : [330, 262, 196]) : [look.node.position.side === "b" ? 392 : 294]);
    },
  );
}
