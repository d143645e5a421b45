// Pictures in fewer bytes: browsers encode PNG for speed. The pixels stay the same.
import { crc32, deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunksOf(png) {
  const chunks = [];
  for (let at = SIGNATURE.length; at < png.length;) {
    const size = png.readUInt32BE(at);
    chunks.push({
      type: png.toString("latin1", at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + size),
    });
    at += size + 12;
  }
  return chunks;
}

function chunk(type, data) {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
}

function paeth(a, b, c) {
  const p = a + b - c;
  const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/** The bytes of the pixels, without the filters of their rows. */
function pixelsOf(raw, width, height, size) {
  const line = width * size;
  const pixels = Buffer.alloc(line * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (line + 1)];
    for (let x = 0; x < line; x++) {
      const at = y * line + x;
      const left = x >= size ? pixels[at - size] : 0;
      const above = y > 0 ? pixels[at - line] : 0;
      const corner = x >= size && y > 0 ? pixels[at - line - size] : 0;
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter];
      pixels[at] = (raw[y * (line + 1) + 1 + x] + guess) & 255;
    }
  }
  return pixels;
}

/** Rows without filters, which suits pictures of few colours. */
function packed(pixels, line, height) {
  const rows = Buffer.alloc((line + 1) * height);
  for (let y = 0; y < height; y++) pixels.copy(rows, y * (line + 1) + 1, y * line, (y + 1) * line);
  return deflateSync(rows, { level: 9, memLevel: 9 });
}

/** Encodes a picture again. One of another kind than browsers write stays as it is. */
export function smaller(png) {
  const chunks = chunksOf(png);
  const head = Buffer.from(chunks.find(({ type }) => type === "IHDR").data);
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const size = { 2: 3, 6: 4 }[head[9]];
  if (head[8] !== 8 || size === undefined || head[12] !== 0) return png;
  const raw = inflateSync(
    Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map(({ data }) => data)),
  );
  const pixels = pixelsOf(raw, width, height, size);
  const written = [SIGNATURE, chunk("IHDR", head), chunk("IDAT", packed(pixels, width * size, height))];
  const again = Buffer.concat([...written, chunk("IEND", Buffer.alloc(0))]);
  return again.length < png.length ? again : png;
}
