// How fast the board runs: as fast as it can, but not faster than the clock on the wall, and not at all while it sleeps.

const AHEAD = 50e3; // nanoseconds: an alarm as near as this is not worth a sleep
const STRIDE = 500e3; // nanoseconds of the board between two looks at the wall and at the log
const TURN = 4e6; // nanoseconds before others have their turn: sockets, signals
const LONGEST_SLEEP = 1e9;

export class Pace {
  /** Called between two strides, and after a reset before the board goes on. */
  onStride = () => {};

  constructor(board) {
    this.board = board;
    this.epoch = wall(); // when the board's clock began
  }

  /** Lets something happen to the board from outside, now, and goes on. */
  happen(event) {
    clearTimeout(this.timer);
    clearImmediate(this.immediate);
    if (this.isStopped) return;
    // A board that slept has a clock that stood still.
    if (this.board.idleNanos > 0) this.#run(wall() - this.epoch);
    event();
    this.#turn();
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.timer);
    clearImmediate(this.immediate);
  }

  #turn() {
    const { board } = this;
    const start = wall();
    let now = start;
    while (!this.isStopped && now - start < TURN && this.#pause(now) <= 0) {
      this.#run(Math.min(now - this.epoch + AHEAD, board.nanos + STRIDE));
      now = wall();
    }
    if (this.isStopped) return;
    const pause = Math.min(this.#pause(now), LONGEST_SLEEP);
    if (pause <= AHEAD) this.immediate = setImmediate(() => this.#turn());
    else this.timer = setTimeout(() => this.#turn(), pause / 1e6);
  }

  /** Nanoseconds until there is something to do. */
  #pause(now) {
    const { nanos, idleNanos } = this.board;
    return nanos + idleNanos - (now - this.epoch) - (idleNanos > 0 ? AHEAD : 0);
  }

  #run(until) {
    const wasReset = this.board.run(until);
    this.onStride();
    if (wasReset) this.epoch = wall();
  }
}

const wall = () => performance.now() * 1e6;
