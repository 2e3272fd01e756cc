// The server behind the page: questions to it, and the news that it sends.
//
// It may be gone for a while and come back as another one, with another token: then the page reads
// the new token from where it had the first, and goes on.

const AGAIN = 1000;

export class Server extends EventTarget {
  constructor(token) {
    super();
    this.token = token;
    this.state = null;
    this.here = false;
    this.tab = sessionStorage.getItem("knightfall-tab") ?? crypto.randomUUID();
    sessionStorage.setItem("knightfall-tab", this.tab); // a page that is loaded anew is the same tab
  }

  /** Listen to the news until the page is closed. */
  connect() {
    this.stream = new EventSource(`/api/events?client=${this.tab}`);
    this.stream.onmessage = ({ data }) => this.hear(JSON.parse(data));
    this.stream.onerror = () => {
      if (this.stream.readyState === EventSource.CLOSED) setTimeout(() => this.connect(), AGAIN);
      this.setHere(false);
    };
  }

  async hear(state) {
    if (this.state && this.state.server !== state.server) await this.renewToken();
    this.state = state;
    this.setHere(true);
    this.dispatchEvent(new Event("state"));
  }

  setHere(here) {
    if (this.here === here) return;
    this.here = here;
    this.dispatchEvent(new Event("connection"));
  }

  async renewToken() {
    try {
      const page = new DOMParser().parseFromString(await (await fetch("/")).text(), "text/html");
      this.token = page.querySelector("meta[name=knightfall-lab]")?.content ?? this.token;
    } catch { /* it is gone again: the next news tell */ }
  }

  get(path) {
    return this.ask(path, {});
  }

  post(path, body = {}, signal = undefined) {
    const headers = {
      "Content-Type": "application/json", "X-Knightfall-Token": this.token, "X-Knightfall-Client": this.tab,
    };
    return this.ask(path, { method: "POST", headers, body: JSON.stringify(body), signal });
  }

  async ask(path, options) {
    let answer;
    try {
      answer = await fetch(path, options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The server does not answer.");
    }
    const content = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(content.error ?? `The server says ${answer.status}.`);
    return content;
  }
}
