// Who was winning after each move of a game, as bars to click: up for the first player, down for the second.

const WIDTH = 300, HIGH = 16, SPACE = "http://www.w3.org/2000/svg";

function made(name, attributes, text) {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  return element;
}

export function drawGraph(svg, line, goTo, at) {
  const judged = line.filter((node) => node.winner !== undefined);
  svg.toggleAttribute("data-empty", !judged.length);
  const step = Math.min(14, WIDTH / Math.max(1, judged.length));
  svg.replaceChildren(...judged.map((node, number) => {
    const up = node.winner === "w", unknown = node.winner === null;
    const bar = made("rect", {
      x: number * step, y: unknown ? 20 : up ? 4 : 22, width: Math.max(1, step - 1), height: unknown ? 2 : HIGH,
      class: `${node.blunder ? "blunder" : up ? "w" : "b"}${node === at ? " here" : ""}`,
    });
    const who = unknown ? "not known" : up ? "White wins" : "Black wins";
    bar.append(made("title", {}, `move ${line.indexOf(node) + 1}: ${who}${node.blunder ? ", a blunder" : ""}`));
    bar.addEventListener("click", () => goTo(node));
    if (!node.blunder) return bar;
    const both = made("g", {}); // a blunder is not told by its colour alone
    both.append(bar, made("text", { x: number * step + step / 2, y: up ? 32 : 17, "text-anchor": "middle" }, "??"));
    return both;
  }));
}
