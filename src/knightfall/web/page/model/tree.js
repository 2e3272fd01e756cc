// A game with its variations: a tree of positions with a cursor.

/** @typedef {import("./notation.js").Position} Position */
/** @typedef {import("./notation.js").Side} Side */

/**
 * A position and the move that led to it. `children[0]` continues the main line.
 *
 * `winner` and `blunder` are set once the move has been judged: who wins after it (null if unknown) and whether it
 * threw a win away.
 * @typedef {object} Node
 * @property {Position} position
 * @property {number | null} cell the cell moved to; null at the root
 * @property {Node | null} parent
 * @property {Node[]} children
 * @property {string} comment
 * @property {Side | null} [winner]
 * @property {boolean} [blunder]
 */

/** Longest comment that is kept, in characters. */
export const MAX_COMMENT = 300;

export class Tree {
  /** @param {Position} position */
  constructor(position) {
    /** @type {Node} */
    this.root = { position, cell: null, parent: null, children: [], comment: "" };
    this.at = this.root;
  }

  /**
   * Move the cursor to the position after a move, adding it as the last variation if it is new.
   * @param {number} cell
   * @param {Position} position the position after the move
   */
  play(cell, position) {
    let next = this.at.children.find((child) => child.cell === cell);
    if (!next) {
      next = { position, cell, parent: this.at, children: [], comment: "" };
      this.at.children.push(next);
    }
    this.at = next;
    return next;
  }

  /** Return the nodes from the first move to a node. */
  line(node = this.at) {
    const found = [];
    for (let one = node; one.parent; one = one.parent) found.unshift(one);
    return found;
  }

  /** Return the last node of the line that continues a node by first children. */
  end(node = this.at) {
    let end = node;
    while (end.children.length) end = end.children[0];
    return end;
  }

  /**
   * Make the variation that a node belongs to the first one at its nearest fork.
   * Return whether anything changed: it does not where the node is on the main line already.
   * @param {Node} node
   */
  promote(node) {
    for (let one = node; one.parent; one = one.parent) {
      const siblings = one.parent.children;
      const place = siblings.indexOf(one);
      if (place <= 0) continue;
      siblings.splice(place, 1);
      siblings.unshift(one);
      return true;
    }
    return false;
  }

  /**
   * Delete a node with all that follows. The cursor moves to its parent if it was inside.
   * @param {Node} node
   */
  remove(node) {
    if (!node.parent) return;
    if (this.line().includes(node)) this.at = node.parent;
    node.parent.children.splice(node.parent.children.indexOf(node), 1);
  }

  /**
   * Attach a comment to a node; an empty one deletes it.
   * @param {Node} node
   * @param {string} text
   */
  comment(node, text) {
    node.comment = text.replace(/\s+/g, " ").trim().slice(0, MAX_COMMENT);
  }

  /** Return every node below the root, main line first at each fork. */
  nodes() {
    /** @type {Node[]} */
    const found = [];
    /** @param {Node} node */
    const walk = (node) => {
      for (const child of node.children) {
        found.push(child);
        walk(child);
      }
    };
    walk(this.root);
    return found;
  }
}
