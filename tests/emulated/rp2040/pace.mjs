// How fast the board runs: as fast as it can, but not faster than the clock on the wall, and not at all while it sleeps.

const AHEAD = 50e3; // nanoseconds: an alarm as near as this is not worth a sleep
const STRIDE = 500e3; // nanoseconds of the board between two looks at the wall and at the log
const TURN = 4e6; // nanoseconds before others have their turn: sockets, signals

export class Pace {
  /** Called between two strides, and before a reset takes effect. */
  onStride = () => {};

  constructor(board) {
    this.board = board;
    this.epoch = wall() - board.nanos;
    this.timer = undefined;
  }

  /** Goes on at once: something came from outside. */
  wake() {
    if (this.isRunning) return;
    this.#stopWaiting();
    this.#turn();
  }

  stop() {
    this.isStopped = true;
    this.#stopWaiting();
  }

  #stopWaiting() {
    clearTimeout(this.timer);
    clearImmediate(this.immediate);
  }

  #turn() {
    if (this.isStopped) return;
    const { board } = this;
    const start = wall();
    this.isRunning = true;
    let now = start;
    while (!this.isStopped && now - start < TURN) {
      const target = now - this.epoch + AHEAD;
      if (board.nanos >= target) break;
      if (board.run(Math.min(target, board.nanos + STRIDE))) this.epoch = wall();
      this.onStride();
      now = wall();
    }
    this.isRunning = false;
    this.#rest(now);
  }

  #rest(now) {
    if (this.isStopped) return;
    const { board } = this;
    const pause = board.nanos + board.idleNanos - (now - this.epoch) - AHEAD;
    if (pause <= 0) this.immediate = setImmediate(() => this.#turn());
    else if (pause < Infinity) this.timer = setTimeout(() => this.#turn(), Math.min(pause / 1e6, 1000));
    else this.timer = setTimeout(() => this.#turn(), 1000);
  }
}

const wall = () => Number(process.hrtime.bigint());
