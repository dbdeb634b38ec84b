// What an ELF file says: which bytes go where, and at which address a symbol lies. 32 bit, little endian only.

const PT_LOAD = 1;
const SHT_SYMTAB = 2;

export class Elf {
  constructor(bytes) {
    if (bytes.length < 52 || bytes.readUInt32BE(0) !== 0x7f454c46) throw new Error('not an ELF file');
    if (bytes[4] !== 1 || bytes[5] !== 1) throw new Error('not a 32 bit little endian ELF file');
    this.bytes = bytes;
  }

  /** The loaded pieces by physical address: where a flash tool would write them. */
  segments() {
    const { bytes } = this;
    return table(bytes, 28, 42, 44)
      .filter((at) => bytes.readUInt32LE(at) === PT_LOAD)
      .map((at) => {
        const offset = bytes.readUInt32LE(at + 4);
        const size = bytes.readUInt32LE(at + 16);
        return { address: bytes.readUInt32LE(at + 12), data: bytes.subarray(offset, offset + size) };
      })
      .filter(({ data }) => data.length > 0);
  }

  /** The address of a symbol, or undefined where the file has no such name. */
  symbol(name) {
    const { bytes } = this;
    const sections = table(bytes, 32, 46, 48);
    const wanted = Buffer.from(`${name}\0`);
    for (const section of sections) {
      if (bytes.readUInt32LE(section + 4) !== SHT_SYMTAB) continue;
      const first = bytes.readUInt32LE(section + 16);
      const end = first + bytes.readUInt32LE(section + 20);
      const names = bytes.readUInt32LE(sections[bytes.readUInt32LE(section + 24)] + 16);
      for (let at = first; at < end; at += 16) {
        const text = names + bytes.readUInt32LE(at);
        if (wanted.equals(bytes.subarray(text, text + wanted.length))) return bytes.readUInt32LE(at + 4);
      }
    }
    return undefined;
  }
}

/** Where the entries of a header table begin; the arguments are the places of its offset, entry size and count. */
function table(bytes, offset, size, count) {
  const start = bytes.readUInt32LE(offset);
  const step = bytes.readUInt16LE(size);
  return Array.from({ length: bytes.readUInt16LE(count) }, (_, index) => start + index * step);
}
