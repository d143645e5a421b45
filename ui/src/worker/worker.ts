// The worker: loads the library in WebAssembly, hands files over to it, and asks it.
import { chunksOfGzip, decoded, expanded, packingOf } from "./files";
import type { FromWorker, GivenFile, LibraryCode, Role, ToWorker } from "./messages";

/** The exports of `crates/web`, which describes them. */
interface Exports {
  memory: WebAssembly.Memory;
  buffer(length: number): number;
  name(): void;
  add(role: number): number;
  open(): number;
  prepare(step: number): number;
  ask(): number;
  answer(): number;
  answer_length(): number;
}

const ROLES: Record<Role, number> = {
  profile: 0,
  base: 1,
  source: 2,
  "newer-source": 3,
  "profile-by-columns": 4,
  "base-by-columns": 5,
};
/** The memory of WebAssembly has 4 GB; the profile is not alone in it. */
const MAX_FILE_BYTES = 0xe000_0000;

/** A library with more memory than this does nothing ahead: it may not fit. */
const MAX_PREPARED_BYTES = 0x4000_0000;

const UNFIT = "the profile does not fit into the memory of a page: `gristmill view FILE` loads larger ones";

class Failure extends Error {}

let module: WebAssembly.Module | null = null;
/** Null before the first profile, and after a failure of the library: its memory may be in disorder. */
let library: Exports | null = null;
let given: GivenFile[] = [];
/** Bytes of all profiles, as far as they are known. */
let total = 0;
/** The next step of what is done ahead. */
let step = 0;

function post(message: FromWorker, transferred: ArrayBuffer[] = []): void {
  (postMessage as (message: FromWorker, transferred: ArrayBuffer[]) => void)(message, transferred);
}

async function compile(code: LibraryCode): Promise<WebAssembly.Module> {
  post({ kind: "progress", stage: "library", bytes: 0, total: 0 });
  if ("text" in code) {
    const packed = new Blob([decoded(code.text)]);
    return WebAssembly.compile(await new Response(expanded(packed.stream())).arrayBuffer());
  }
  let bytes: ArrayBuffer;
  try {
    const response = await fetch(code.address);
    if (!response.ok) throw new Failure(`${code.address}: the server answered ${response.status}`);
    bytes = await response.arrayBuffer();
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(
      `${code.address} cannot be loaded: this page needs a web server; ` +
        "`gristmill view --export FILE` writes a page that opens from the disk",
    );
  }
  return WebAssembly.compile(bytes);
}

/** Reserves memory of the library for the next call. */
function reserve(exports: Exports, length: number): number {
  const start = length > MAX_FILE_BYTES ? 0 : exports.buffer(length);
  if (start === 0) throw new Failure(UNFIT);
  return start >>> 0;
}

function put(exports: Exports, bytes: Uint8Array): void {
  const start = reserve(exports, bytes.length);
  new Uint8Array(exports.memory.buffer).set(bytes, start);
}

/** Hands a file over to the library, expanded. */
async function add(exports: Exports, file: GivenFile): Promise<void> {
  const blob = typeof file.bytes === "string" ? new Blob([decoded(file.bytes)]) : file.bytes;
  let read = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, control) {
      read += chunk.length;
      post({ kind: "progress", stage: "read", bytes: read, total: blob.size });
      control.enqueue(chunk);
    },
  });
  const stream = blob.stream().pipeThrough(counted);
  const packing = packingOf(new Uint8Array(await blob.slice(0, 10).arrayBuffer()));
  put(exports, new TextEncoder().encode(file.name));
  exports.name();
  let length = 0;
  if (packing === null) {
    const start = reserve(exports, blob.size);
    for (const reader = stream.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      new Uint8Array(exports.memory.buffer).set(value, start + length);
      length += value.length;
    }
  } else if (packing === "gzip") {
    let chunks: Uint8Array[];
    try {
      chunks = await chunksOfGzip(blob, stream, MAX_FILE_BYTES);
    } catch (error) {
      if (error instanceof RangeError) throw new Failure(UNFIT);
      throw new Failure(`${file.name}: the gzip data is damaged: expand it with gzip, as far as that goes`);
    }
    for (const chunk of chunks) length += chunk.length;
    let at = reserve(exports, length);
    for (const chunk of chunks) {
      new Uint8Array(exports.memory.buffer).set(chunk, at);
      at += chunk.length;
    }
  } else {
    throw new Failure(`${file.name}: this page expands gzip only: expand the file with ${packing} first`);
  }
  // A file may be in a compact form, and has more text than bytes.
  const text = exports.add(ROLES[file.role]) >>> 0;
  if (file.role !== "source" && file.role !== "newer-source") total += text;
}

/** Makes a library with the files that were given. */
async function open(): Promise<void> {
  if (!module) throw new Failure("the library is not loaded");
  library = null;
  total = 0;
  const page = {
    progress: (bytes: number) => post({ kind: "progress", stage: "load", bytes, total }),
  };
  const instance = await WebAssembly.instantiate(module, { page });
  const exports = instance.exports as unknown as Exports;
  for (const file of given) await add(exports, file);
  let isRefused: number;
  try {
    isRefused = exports.open();
  } catch {
    throw new Failure(UNFIT);
  }
  if (isRefused) throw new Failure(reasonOf(taken(exports)));
  library = exports;
  step = 0;
}

/** Does one step ahead, and returns true if there are more. */
function prepare(): boolean {
  if (!library || library.memory.buffer.byteLength > MAX_PREPARED_BYTES) return false;
  try {
    return library.prepare(step++) !== 0;
  } catch {
    library = null;
    return false;
  }
}

/** Copies the answer out of the library. */
function taken(exports: Exports): Uint8Array<ArrayBuffer> {
  const start = exports.answer() >>> 0;
  return new Uint8Array(exports.memory.buffer).slice(start, start + exports.answer_length());
}

function reasonOf(answer: Uint8Array): string {
  return (JSON.parse(new TextDecoder().decode(answer)) as { error: string }).error;
}

async function ask(request: string): Promise<ArrayBuffer> {
  if (!library) await open();
  const exports = library!;
  let isRefused: number;
  try {
    put(exports, new TextEncoder().encode(request));
    isRefused = exports.ask();
  } catch (error) {
    library = null;
    if (error instanceof Failure) throw error;
    throw new Failure("this answer failed, which is an error of gristmill; others still work");
  }
  const answer = taken(exports);
  if (isRefused) throw new Failure(reasonOf(answer));
  return answer.buffer;
}

async function answerTo(message: ToWorker): Promise<void> {
  try {
    if (message.kind === "ask") {
      const answer = await ask(message.request);
      post({ kind: "answer", answer }, [answer]);
      return;
    }
    if (message.kind === "prepare") {
      post({ kind: "prepared", hasMore: prepare() });
      return;
    }
    module ??= await compile(message.code);
    given = message.files;
    await open();
    post({ kind: "answer", answer: new ArrayBuffer(0) });
  } catch (error) {
    post({ kind: "failure", reason: error instanceof Error ? error.message : String(error) });
  }
}

onmessage = (event: MessageEvent<ToWorker>) => void answerTo(event.data);
