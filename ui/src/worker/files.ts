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

/** The program that expands a file that begins with these bytes. A profile is text, and begins with none of them. */
export function packingOf(head: Uint8Array): "gzip" | "zstd" | "xz" | "bzip2" | null {
  const begins = (...bytes: number[]) => bytes.every((byte, at) => head[at] === byte);
  if (begins(0x1f, 0x8b, 8)) return "gzip";
  if (begins(0x28, 0xb5, 0x2f, 0xfd)) return "zstd";
  if (begins(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0)) return "xz";
  const isBlock = head[4] === 0x31 && head[5] === 0x41 && head[6] === 0x59;
  return begins(0x42, 0x5a, 0x68) && isBlock ? "bzip2" : null;
}
