// The contents of files: base64, and packings.

/** The bytes that a text in base64 stands for. */
export function decoded(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Expands gzip. */
export function expanded(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  // The types of the browser's streams differ in the kind of buffer only.
  const pair = new DecompressionStream("gzip") as unknown as ReadableWritablePair<Uint8Array, Uint8Array>;
  return stream.pipeThrough(pair);
}

/** The chunks of a stream. It ends with a RangeError if they are more bytes than the limit. */
async function chunksOf(stream: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for (const reader = stream.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return chunks;
    limit -= value.length;
    if (limit < 0) {
      void reader.cancel();
      throw new RangeError();
    }
    chunks.push(value);
  }
}

/** Parts of a file that look like the start of a gzip file, and are none, are rarer than one in 100 MB. */
const MAX_FALSE_STARTS = 8;

/** Expands a gzip file, read by this stream, to at most so many bytes. */
export async function chunksOfGzip(
  blob: Blob,
  stream: ReadableStream<Uint8Array>,
  limit: number,
): Promise<Uint8Array[]> {
  const damage = await chunksOf(expanded(stream), limit).catch((error: unknown) => error);
  if (Array.isArray(damage)) return damage as Uint8Array[];
  if (damage instanceof RangeError) throw damage;
  // It may be several files in a row, which is one to gzip, and refused by browsers.
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const found: Uint8Array[] = [];
  let missed = 0;
  // A browser takes a millisecond for each file: many that are tiny are left to gzip.
  let files = 1000 + bytes.length / 1000;
  for (let start = 0, end = 1; start < bytes.length; end++) {
    end = bytes.indexOf(0x1f, end);
    if (end < 0) end = bytes.length;
    else if (bytes[end + 1] !== 0x8b || bytes[end + 2] !== 8 || bytes[end + 3]! > 0x1f) continue;
    if (--files < 0) throw damage;
    try {
      const one = new Blob([bytes.subarray(start, end)]);
      for (const chunk of await chunksOf(expanded(one.stream()), limit)) {
        found.push(chunk);
        limit -= chunk.length;
      }
      start = end;
    } catch (error) {
      if (error instanceof RangeError || end === bytes.length || ++missed > MAX_FALSE_STARTS) throw error;
    }
  }
  return found;
}

/** The program that expands a file that begins with these bytes. A profile is text, and begins with none of them. */
export function packingOf(head: Uint8Array): "gzip" | "zstd" | "xz" | "bzip2" | null {
  const begins = (...bytes: number[]) => bytes.every((byte, at) => head[at] === byte);
  if (begins(0x1f, 0x8b, 8)) return "gzip";
  if (begins(0x28, 0xb5, 0x2f, 0xfd)) return "zstd";
  if (begins(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0)) return "xz";
  const isBlock = head[4] === 0x31 && head[5] === 0x41 && head[6] === 0x59;
  return begins(0x42, 0x5a, 0x68) && isBlock ? "bzip2" : null;
}
