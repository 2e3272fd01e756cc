// The engine as promises.  Asking for something new about the same thing ends what was asked before.

export class Engine {
  /** `source` has the worker's address, the wasm file's bytes, and what is known about them. */
  constructor(source) {
    this.source = source;
    this.waiting = new Map();
    this.number = 0;
    this.worker = null; // until somebody asks
  }

  start() {
    this.worker = new Worker(this.source.worker);
    this.worker.postMessage({ load: this.source.load });
    this.worker.onmessage = ({ data }) => {
      const one = this.waiting.get(data.id);
      if (!one) return;
      if (data.part) one.onPart(data.part);
      else {
        this.waiting.delete(data.id);
        data.error ? one.reject(new Error(data.error)) : one.resolve(data.answer);
      }
    };
    this.worker.onerror = (event) => this.fail(new Error(`The engine failed: ${event.message}`));
  }

  ask(what, about, onPart = () => {}) {
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, onPart });
      if (!this.worker) this.start();
      this.worker.postMessage({ id, ask: what, ...about });
    });
  }

  /** End whatever is being computed; whoever waits for it gets a `Stopped`. */
  stop() {
    if (!this.waiting.size) return;
    this.worker.terminate();
    this.worker = null;
    this.fail(new Stopped());
  }

  fail(error) {
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const one of all) one.reject(error);
  }
}

export class Stopped extends Error {}
