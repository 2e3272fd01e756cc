// What the page can do only where there is a server behind it.

export class Lab {
  constructor(app) {
    this.app = app;
  }
}
