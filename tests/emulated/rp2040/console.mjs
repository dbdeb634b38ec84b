// The board's USB serial console, seen from the computer at the other end of the cable: resets the device, gives it an
// address, finds its serial port (CDC ACM) and moves bytes. rp2040js has such a host, too, but hands a buffer back to the
// firmware before anything is in it. Sections are those of the RP2040 datasheet.

// 4.1.2.5: where the firmware and the controller share memory
const SETUP_PACKET = 0x000;
const BUFFER_CONTROL = 0x080; // eight bytes for each endpoint: to the host, from the host
const BUFFER_CONTROL_END = 0x100;
const ENDPOINT_CONTROL = 0x008; // likewise, from endpoint 1 on
const ENDPOINT_ZERO_BUFFER = 0x100;

const LENGTH = 0x3ff;
const AVAILABLE = 1 << 10;
const STALL = 1 << 11;
const FULL = 1 << 15;

const BUS_RESET = 1 << 19; // in SIE_STATUS
const PULL_UP = 1 << 16; // in SIE_CTRL: the device shows itself

const PACKET = 64;
const RESET_NANOS = 10e6;
const TRANSFER_NANOS = 10e3;

// USB 2.0, 9.4, and CDC PSTN 1.2, 6.3
const TO_HOST = 0x80;
const TO_INTERFACE = 0x21; // of a class
const SET_ADDRESS = 5;
const GET_DESCRIPTOR = 6;
const SET_CONFIGURATION = 9;
const SET_LINE_CODING = 0x20;
const SET_CONTROL_LINE_STATE = 0x22;
const DEVICE = 1;
const CONFIGURATION = 2;
const INTERFACE = 4;
const ENDPOINT = 5;
const COMMUNICATION_CLASS = 2;
const DATA_CLASS = 10;
const BITS_115200_8N1 = [0x00, 0xc2, 0x01, 0x00, 0, 0, 8];
const OPEN_LINES = 3; // DTR and RTS

export class Console {
  /** Called with bytes of the board. */
  onData = () => {};

  /** Somebody reads: without that the host takes nothing from the board. */
  isOpen = false;

  waiting = []; // bytes for the board

  /** Plugs the cable into a chip that was just reset. */
  connect(mcu) {
    this.usb = mcu.usbCtrl;
    this.memory = mcu.usbDPRAM;
    this.view = mcu.usbDPRAMView;
    this.armed = new Set(); // buffers that the firmware gave to the controller
    this.requests = []; // control transfers to come
    this.request = undefined; // the one under way
    this.port = undefined; // the serial port, once it is found
    this.transfers = mcu.clock.createAlarm(() => this.#transfer());
    const reset = mcu.clock.createAlarm(() => {
      this.usb.sieStatus |= BUS_RESET;
      this.usb.sieStatusUpdated();
    });
    this.usb.handleSieCtrlWrite = (value) => {
      if (value & ~this.usb.sieCtrl & PULL_UP) reset.schedule(RESET_NANOS);
      this.usb.sieCtrl = value;
    };
    this.usb.onResetReceived = () => this.#enumerate();
    this.usb.DPRAMUpdated = (offset, value) => this.#updated(offset, value);
  }

  /** Opens or closes the port, as a terminal program does. */
  open(isOpen) {
    this.isOpen = isOpen;
    if (this.port) this.#setLines();
  }

  /** Sends bytes to the board, as soon as it takes them. */
  send(bytes) {
    this.waiting.push(...bytes);
    this.#schedule();
  }

  #enumerate() {
    this.armed.clear();
    this.requests = [];
    this.request = undefined;
    this.port = undefined;
    this.#ask({ type: TO_HOST, request: GET_DESCRIPTOR, value: DEVICE << 8, length: 18 });
    this.#ask({ request: SET_ADDRESS, value: 1 });
    this.#ask({ type: TO_HOST, request: GET_DESCRIPTOR, value: CONFIGURATION << 8, length: 9 }, ([, , low, high]) => {
      const length = low | (high << 8);
      this.#ask({ type: TO_HOST, request: GET_DESCRIPTOR, value: CONFIGURATION << 8, length }, (descriptors) => {
        const port = findPort(descriptors);
        this.#ask({ request: SET_CONFIGURATION, value: descriptors[5] }, () => {
          if (!port) return;
          this.port = port;
          this.#ask({ type: TO_INTERFACE, request: SET_LINE_CODING, index: port.control, data: BITS_115200_8N1 });
          this.#setLines();
        });
      });
    });
  }

  #setLines() {
    const value = this.isOpen ? OPEN_LINES : 0;
    this.#ask({ type: TO_INTERFACE, request: SET_CONTROL_LINE_STATE, value, index: this.port.control });
  }

  /** Queues a control transfer; `then` gets what came, and is not called where the device refuses. */
  #ask({ type = 0, request, value = 0, index = 0, data = [], length = data.length }, then = () => {}) {
    const setup = new Uint8Array([type, request, value, value >> 8, index, index >> 8, length, length >> 8]);
    this.requests.push({ setup, isToHost: (type & TO_HOST) !== 0, length, data: [...data], then });
    this.#schedule();
  }

  #schedule() {
    this.transfers?.schedule(TRANSFER_NANOS);
  }

  #updated(offset, value) {
    if (offset < BUFFER_CONTROL || offset >= BUFFER_CONTROL_END) return;
    if (value & AVAILABLE) {
      this.armed.add(offset);
      this.#schedule();
    } else if (value & STALL && offset < BUFFER_CONTROL + 8 && this.request) {
      this.request = undefined;
      this.#schedule();
    }
  }

  /** Does what can be done now: a packet for every buffer that is there for one, and the next control transfer. */
  #transfer() {
    for (const offset of [...this.armed]) {
      const endpoint = (offset - BUFFER_CONTROL) >> 3;
      const isFromHost = (offset & 4) !== 0;
      if (endpoint === 0) this.#control(offset, isFromHost);
      else if (!isFromHost && endpoint === this.port?.in && this.isOpen) this.onData(this.#take(offset, endpoint));
      else if (isFromHost && endpoint === this.port?.out && this.waiting.length > 0) {
        this.#give(offset, endpoint, this.waiting.splice(0, PACKET));
      }
    }
    if (!this.request && this.requests.length > 0) {
      this.request = { ...this.requests.shift(), received: [] };
      this.memory.set(this.request.setup, SETUP_PACKET);
      this.armed.delete(BUFFER_CONTROL);
      this.armed.delete(BUFFER_CONTROL + 4);
      this.usb.sendSetupPacket(this.request.setup);
    }
  }

  /** Endpoint zero: packets of data one way, then an empty one the other way, which ends the transfer. */
  #control(offset, isFromHost) {
    const { request } = this;
    if (!request) return;
    const isStatus = isFromHost === request.isToHost;
    if (isFromHost) this.#give(offset, 0, isStatus ? [] : request.data.splice(0, PACKET));
    else request.received.push(...this.#take(offset, 0));
    if (!isStatus) return;
    this.request = undefined;
    request.then(request.received);
    this.#schedule();
  }

  #take(offset, endpoint) {
    const control = this.view.getUint32(offset, true);
    const start = this.#buffer(offset, endpoint);
    const bytes = this.memory.slice(start, start + (control & LENGTH));
    this.#done(offset, control & ~(AVAILABLE | FULL));
    return bytes;
  }

  #give(offset, endpoint, bytes) {
    const control = this.view.getUint32(offset, true);
    this.memory.set(bytes, this.#buffer(offset, endpoint));
    this.#done(offset, (control & ~(AVAILABLE | LENGTH)) | FULL | bytes.length);
  }

  #done(offset, control) {
    this.armed.delete(offset);
    this.view.setUint32(offset, control, true);
    this.usb.buffStatus |= 1 << ((offset - BUFFER_CONTROL) >> 2);
    this.usb.buffStatusUpdated();
  }

  #buffer(offset, endpoint) {
    if (endpoint === 0) return ENDPOINT_ZERO_BUFFER;
    return this.view.getUint32(ENDPOINT_CONTROL + (endpoint - 1) * 8 + (offset & 4), true) & 0xffc0;
  }
}

/** The interface that controls a serial port, and the endpoints of its data; undefined where there is none. */
function findPort(descriptors) {
  const port = {};
  let which;
  for (let at = 0; at + 1 < descriptors.length; at += Math.max(descriptors[at], 2)) {
    const [, type, address, attributes, , interfaceClass] = descriptors.slice(at, at + 6);
    if (type === INTERFACE) {
      which = interfaceClass;
      if (which === COMMUNICATION_CLASS) port.control = address;
    } else if (type === ENDPOINT && which === DATA_CLASS && (attributes & 3) === 2) {
      port[address & TO_HOST ? 'in' : 'out'] = address & 15;
    }
  }
  return port.control !== undefined && port.in && port.out ? port : undefined;
}
