// The W5500 Ethernet chip as its driver sees it over SPI: common registers, and socket 0 in MACRAW mode (the only socket
// that has it), which hands over whole frames. The seven other sockets and the chip's own TCP are not there: their blocks
// read as zero. Section numbers are those of the W5500 datasheet, version 1.1.0.

// 4.1: common registers
const MR = 0x00;
const SHAR = 0x09; // our MAC address
const SIR = 0x17;
const SIMR = 0x18;
const PHYCFGR = 0x2e;
const VERSIONR = 0x39;

// 4.2: registers of a socket
const SN_MR = 0x00;
const SN_CR = 0x01;
const SN_IR = 0x02;
const SN_SR = 0x03;
const SN_RXBUF_SIZE = 0x1e;
const SN_TXBUF_SIZE = 0x1f;
const SN_TX_FSR = 0x20;
const SN_TX_RD = 0x22;
const SN_TX_WR = 0x24;
const SN_RX_RSR = 0x26;
const SN_RX_RD = 0x28;
const SN_RX_WR = 0x2a;
const SN_IMR = 0x2c;

const OPEN = 0x01;
const CLOSE = 0x10;
const SEND = 0x20;
const RECV = 0x40;

const IR_SEND_OK = 0x10;
const IR_RECV = 0x04;

const MODE_RESET = 0x80;
const MODE_MACRAW = 0x04;
const MODE_FILTER = 0x80;
const STATUS_MACRAW = 0x42;
const LINK_UP_100_FULL = 0xbf;
const LINK_DOWN = 0xb8;
const VERSION = 4;

// Block select bits of the control phase (2.2.2); 4 * n more for socket n.
const COMMON = 0;
const SOCKET = 1;
const TX_BUFFER = 2;
const RX_BUFFER = 3;

const BUFFER = 0x4000;
const SHORTEST_FRAME = 60; // without its checksum

export class W5500 {
  /** Called with each frame that the board sends. */
  onSend = () => {};

  /** Called with the level of the interrupt pin, which is low when there is something to tell. */
  onInterrupt = () => {};

  /** Is the cable in? A reset does not pull it. */
  #isPlugged = true;

  constructor() {
    this.common = new Uint8Array(0x40);
    this.socket = new Uint8Array(0x30);
    this.tx = new Uint8Array(BUFFER);
    this.rx = new Uint8Array(BUFFER);
    this.reset();
  }

  /** Pulls the cable, or plugs it in again. */
  togglePlug() {
    this.#isPlugged = !this.#isPlugged;
    this.common[PHYCFGR] = this.#isPlugged ? LINK_UP_100_FULL : LINK_DOWN;
  }

  /** What the reset pin and the reset bit do. */
  reset() {
    this.common.fill(0);
    this.common[PHYCFGR] = this.#isPlugged ? LINK_UP_100_FULL : LINK_DOWN;
    this.common[VERSIONR] = VERSION;
    this.socket.fill(0);
    this.socket[SN_RXBUF_SIZE] = 2;
    this.socket[SN_TXBUF_SIZE] = 2;
    this.socket[SN_IMR] = 0xff;
    this.#empty();
    this.select();
    this.#interrupt();
  }

  /** Chip select goes low: the next three bytes are address and control. */
  select() {
    this.phase = 0;
    this.address = 0;
    this.control = 0;
  }

  /** One byte each way. */
  exchange(byte) {
    switch (this.phase) {
      case 0:
        this.address = byte << 8;
        this.phase = 1;
        return 0;
      case 1:
        this.address |= byte;
        this.phase = 2;
        return 0;
      case 2:
        this.control = byte;
        this.phase = 3;
        return 0;
    }
    const address = this.address;
    this.address = (address + 1) & 0xffff;
    if (this.control & 4) {
      this.#write(this.control >> 3, address, byte);
      return 0;
    }
    return this.#read(this.control >> 3, address);
  }

  /** A frame from the network. Lost where the socket is closed, is not for us, or has no room: as on the wire. */
  receive(frame) {
    if (!this.#isPlugged) return;
    const { socket, rx } = this;
    if (socket[SN_SR] !== STATUS_MACRAW || !this.#isForUs(frame)) return;
    const size = frame.length + 2;
    if (size > this.rxSize - this.#received()) return;
    // The driver finds the length first, these two bytes included.
    let at = get16(socket, SN_RX_WR);
    rx[at++ % this.rxSize] = size >> 8;
    rx[at++ % this.rxSize] = size & 0xff;
    for (const byte of frame) rx[at++ % this.rxSize] = byte;
    set16(socket, SN_RX_WR, at & 0xffff);
    socket[SN_IR] |= IR_RECV;
    this.#interrupt();
  }

  get rxSize() {
    return Math.min(this.socket[SN_RXBUF_SIZE] * 1024, BUFFER);
  }

  get txSize() {
    return Math.min(this.socket[SN_TXBUF_SIZE] * 1024, BUFFER);
  }

  #received() {
    return (get16(this.socket, SN_RX_WR) - this.rxRead) & 0xffff;
  }

  #isForUs(frame) {
    if (!(this.socket[SN_MR] & MODE_FILTER) || frame[0] & 1) return true;
    return frame.compare(this.common, SHAR, SHAR + 6, 0, 6) === 0;
  }

  #read(block, address) {
    switch (block) {
      case COMMON:
        return this.common[address] ?? 0;
      case SOCKET:
        return this.#readSocket(address);
      case TX_BUFFER:
        return this.tx[address % this.txSize];
      case RX_BUFFER:
        return this.rx[address % this.rxSize];
    }
    return 0;
  }

  #readSocket(address) {
    switch (address & ~1) {
      case SN_TX_FSR:
        return byteOf16(this.txSize, address);
      case SN_RX_RSR:
        return byteOf16(this.#received(), address);
    }
    return this.socket[address] ?? 0;
  }

  #write(block, address, byte) {
    switch (block) {
      case COMMON:
        this.#writeCommon(address, byte);
        break;
      case SOCKET:
        this.#writeSocket(address, byte);
        break;
      case TX_BUFFER:
        this.tx[address % this.txSize] = byte;
        break;
    }
  }

  #writeCommon(address, byte) {
    if (address === MR && byte & MODE_RESET) {
      this.reset();
    } else if (address < this.common.length && address !== VERSIONR && address !== SIR && address !== PHYCFGR) {
      this.common[address] = byte;
      if (address === SIMR) this.#interrupt();
    }
  }

  #writeSocket(address, byte) {
    const { socket } = this;
    switch (address) {
      case SN_CR:
        this.#command(byte);
        break;
      case SN_IR:
        socket[SN_IR] &= ~byte;
        this.#interrupt();
        break;
      case SN_SR:
        break;
      default:
        if (address < socket.length) socket[address] = byte;
        if (address === SN_IMR) this.#interrupt();
    }
  }

  #command(command) {
    const { socket } = this;
    switch (command) {
      case OPEN:
        if ((socket[SN_MR] & 0x0f) === MODE_MACRAW) socket[SN_SR] = STATUS_MACRAW;
        this.#empty();
        break;
      case CLOSE:
        socket[SN_SR] = 0;
        break;
      case SEND:
        this.#send();
        break;
      case RECV:
        // The read pointer takes effect only now; what is left is told again.
        this.rxRead = get16(socket, SN_RX_RD);
        if (this.#received() > 0) socket[SN_IR] |= IR_RECV;
        break;
    }
    this.#interrupt();
  }

  #send() {
    const { socket } = this;
    const from = get16(socket, SN_TX_RD);
    const length = (get16(socket, SN_TX_WR) - from) & 0xffff;
    const frame = Buffer.alloc(Math.max(length, SHORTEST_FRAME));
    for (let index = 0; index < length; index++) frame[index] = this.tx[(from + index) % this.txSize];
    set16(socket, SN_TX_RD, (from + length) & 0xffff);
    socket[SN_IR] |= IR_SEND_OK;
    if (socket[SN_SR] === STATUS_MACRAW && this.#isPlugged) this.onSend(frame);
  }

  #empty() {
    for (const pointer of [SN_TX_RD, SN_TX_WR, SN_RX_RD, SN_RX_WR]) set16(this.socket, pointer, 0);
    this.rxRead = 0;
  }

  #interrupt() {
    this.common[SIR] = this.socket[SN_IR] & this.socket[SN_IMR] ? 1 : 0;
    this.onInterrupt(!(this.common[SIR] & this.common[SIMR]));
  }
}

const get16 = (bytes, at) => (bytes[at] << 8) | bytes[at + 1];

const byteOf16 = (value, address) => (address & 1 ? value & 0xff : value >> 8);

function set16(bytes, at, value) {
  bytes[at] = value >> 8;
  bytes[at + 1] = value & 0xff;
}
