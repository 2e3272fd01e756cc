// Who was winning after each move of a game, as bars to click.

const WIDTH = 300, HIGH = 16;

export function drawGraph(svg, line, goTo) {
  const judged = line.filter((node) => node.winner !== undefined);
  svg.hidden = !judged.length;
  const step = Math.min(14, WIDTH / Math.max(1, judged.length));
  svg.replaceChildren(...judged.map((node, number) => {
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const up = node.winner === "w";
    const set = (name, value) => bar.setAttribute(name, value);
    set("x", number * step);
    set("y", node.winner === null ? 20 : up ? 4 : 22);
    set("width", Math.max(1, step - 1));
    set("height", node.winner === null ? 2 : HIGH);
    set("class", node.blunder ? "blunder" : up ? "w" : "b");
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    const who = node.winner === null ? "not known" : up ? "the first player wins" : "the second player wins";
    title.textContent = `move ${line.indexOf(node) + 1}: ${who}${node.blunder ? ", a blunder" : ""}`;
    bar.append(title);
    bar.addEventListener("click", () => goTo(node));
    return bar;
  }));
}
